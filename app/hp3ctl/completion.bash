# SPDX-License-Identifier: BSD-3-Clause
# bash completion of hp3ctl: the program prints the completions (app/hp3ctl/complete.c).

_hp3ctl() {
	local line=${COMP_LINE:0:COMP_POINT} words cur i
	COMPREPLY=()

	# Not COMP_WORDS: it is split at the colons of IPv6 addresses.
	read -ra words <<<"$line"
	[[ $line == *[[:space:]] ]] && words+=("")
	cur=${words[-1]}
	if ((${#words[@]} > 2)) && [[ ${words[-2]} == --socket ]]; then
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		return
	fi
	mapfile -t COMPREPLY < <("${words[0]}" __complete "${words[@]:1}" 2>/dev/null)
	# Remove the part before the last ':', which readline treats as earlier words.
	if [[ $cur == *:* && $COMP_WORDBREAKS == *:* ]]; then
		for i in "${!COMPREPLY[@]}"; do
			COMPREPLY[i]=${COMPREPLY[i]#"${cur%:*}:"}
		done
	fi
}

complete -F _hp3ctl hp3ctl
