# SPDX-License-Identifier: BSD-3-Clause
"""Means over seeds and how sure they are."""
import math

# 0.975 quantile of Student's t, by degrees of freedom from 1 on.
T95 = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
       2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086]
T95_MANY = 2.04


def mean(values):
    return sum(values) / len(values)


def interval(values):
    """Mean and half width of its 95 % interval; of one value that is nan."""
    n, middle = len(values), mean(values)
    if n < 2:
        return middle, math.nan
    spread = math.sqrt(sum((v - middle) ** 2 for v in values) / (n - 1) / n)
    return middle, (T95[n - 2] if n - 2 < len(T95) else T95_MANY) * spread
