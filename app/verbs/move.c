/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/verbs/move.h"
#include "app/clock.h"
#include "app/verbs/account.h"
#include "app/verbs/cells.h"
#include "app/verbs/hold.h"
#include "app/verbs/qps.h"

#include <errno.h>

#define DRAIN_NS   UINT64_C(100000000)
#define HOLD_NS    UINT64_C(50000000)
#define LONGEST_NS UINT64_C(1000000000)
#define MS_NS      UINT64_C(1000000)

static struct {
	uint64_t drain_ns, hold_ns, place_ns;
} bounds = {DRAIN_NS, HOLD_NS, 0};

static uint64_t bounded_ns(uint64_t us, uint64_t ours)
{
	return us == 0 || us > LONGEST_NS / 1000u ? ours : us * 1000u;
}

void hp3v_move_bounds(uint64_t drain_us, uint64_t hold_us, uint64_t place_us)
{
	hp3v_set(&bounds.place_ns,
		place_us * 1000u < HP3V_PLACE_NS ? place_us * 1000u : HP3V_PLACE_NS);
	hp3v_set(&bounds.drain_ns, bounded_ns(drain_us, DRAIN_NS));
	hp3v_set(&bounds.hold_ns, bounded_ns(hold_us, HOLD_NS));
}

uint64_t hp3v_move_longest_ns(void)
{
	return hp3v_get(&bounds.drain_ns) + hp3v_get(&bounds.hold_ns);
}

uint64_t hp3v_move_place_ns(void)
{
	return hp3v_get(&bounds.place_ns);
}

/* True: work requests have been posted and completed, all of them through this library. */
static bool has_completed(const struct hp3v_qp *q)
{
	return (uint32_t)__atomic_load_n(&q->done, __ATOMIC_RELAXED) != 0 && !hp3v_is_foreign(q);
}

static void set_step(struct hp3v_qp *q, enum hp3v_step step)
{
	__atomic_store_n(&q->step, step, __ATOMIC_RELEASE);
}

/*
 * Ends a move. The step is RETURNING until the RNIC is in RTS again, or until the provider has
 * taken all held requests.
 */
static void go_back(struct hp3v_qp *q)
{
	int drained = q->method == HP3_VERBS_SQD ? hp3v_sqd_drained(q) : 0;
	bool back = q->method == HP3_VERBS_SPORT ? hp3v_hold_release(q)
		    : q->method == HP3_VERBS_SQD ? drained == EIO || hp3v_sqd_end(q) == 0
						 : true;

	set_step(q, back ? HP3V_IDLE : HP3V_RETURNING);
}

static void end_move(struct hp3v_qp *q, enum hp3_verbs_did did, int detail)
{
	go_back(q);
	hp3v_cell_answer(q, did, detail);
}

static void show_port(struct hp3v_qp *q)
{
	struct hp3_verbs_cell *c = q->cell;

	__atomic_store_n(&c->version, c->version + 1u, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	c->port = q->port;
	c->moves++;
	__atomic_store_n(&c->version, c->version + 1u, __ATOMIC_RELEASE);
}

static void publish_move(struct hp3v_qp *q)
{
	show_port(q);
	end_move(q, HP3_VERBS_MOVED, 0);
}

/* The RNIC does not support this method, for any queue pair: use the next method, or none. */
static void refuse_method(struct hp3v_qp *q)
{
	__atomic_store_n(&q->ctx->method,
		q->method == HP3_VERBS_SPORT ? HP3_VERBS_SQD : HP3_VERBS_NONE, __ATOMIC_RELAXED);
	hp3v_qp_show(q);
}

static bool is_refusal(int error)
{
	return error == EOPNOTSUPP || error == ENOSYS;
}

static void turn_port(struct hp3v_qp *q)
{
	int error;

	if (q->method == HP3_VERBS_SPORT && q->hold != HP3V_HELD)
		error = ENOBUFS; /* a post that did not fit has ended the hold */
	else if (q->method == HP3_VERBS_SPORT)
		error = q->ctx->udp_sport(q->qp, q->port);
	else
		error = hp3v_sqd_turn(q, q->port, false);
	if (error == 0) {
		publish_move(q);
		return;
	}
	if (is_refusal(error))
		refuse_method(q);
	end_move(q, HP3_VERBS_FAILED, error);
}

static bool is_suspend(uint8_t op)
{
	return op == HP3_VERBS_SUSPEND || op == HP3_VERBS_SUSPEND_HELD || op == HP3_VERBS_HOLD;
}

static void look_whether_drained(struct hp3v_qp *q, uint64_t now)
{
	int error;

	if (__atomic_load_n(&q->failed, __ATOMIC_ACQUIRE)) {
		end_move(q, HP3_VERBS_FAILED, EIO);
		return;
	}
	if (q->method == HP3_VERBS_SQD)
		error = hp3v_sqd_drained(q);
	else {
		hp3v_hold_try(q);
		error = q->hold == HP3V_OPEN                         ? ENOBUFS
			: q->hold == HP3V_HELD && hp3v_is_drained(q) ? 0
								     : EAGAIN;
	}
	if (error == EAGAIN && now < q->deadline)
		return;
	if (error != 0) {
		end_move(q, HP3_VERBS_FAILED, error == EAGAIN ? ETIMEDOUT : error);
		return;
	}
	set_step(q, HP3V_SUSPENDED);
	q->deadline = now + q->suspended_ns;
	if (is_suspend(q->op))
		hp3v_cell_answer(q, HP3_VERBS_DRAINED, 0);
	else
		turn_port(q);
}

/* Does the responder stream stay in order? HOLD changes no port. */
static bool needs_peer(const struct hp3v_qp *q, uint8_t op)
{
	return hp3v_responds(q) && op != HP3_VERBS_SUSPEND_HELD && op != HP3_VERBS_HOLD;
}

static int refusal_of_move(const struct hp3v_qp *q, uint8_t op)
{
	if (q->state != IBV_QPS_RTS || __atomic_load_n(&q->failed, __ATOMIC_ACQUIRE))
		return ENOTCONN;
	if (needs_peer(q, op))
		return EPERM;
	if (q->method == HP3_VERBS_NONE)
		return EOPNOTSUPP;
	if (q->method == HP3_VERBS_SPORT) {
		if (q->held == NULL)
			return ENOMEM;
		if (__atomic_load_n(&q->ctx->unlocked, __ATOMIC_RELAXED))
			return ENOLCK;
		if (op != HP3_VERBS_MOVE_NOW && !has_completed(q))
			return ENODATA;
	}
	return 0;
}

/*
 * The path is dead: outstanding requests would never complete. Retransmissions may overtake earlier
 * copies (rule 13). An RNIC in SQD sends no new packets, and retransmits lost ones, from now on
 * with the new port.
 */
static void turn_now(struct hp3v_qp *q)
{
	bool sqd = q->method == HP3_VERBS_SQD;
	int error = 0;

	if (sqd && q->step != HP3V_RETURNING) /* RETURNING: the RNIC is in SQD already */
		error = hp3v_sqd_begin(q);
	if (error == 0) {
		error = sqd ? hp3v_sqd_turn(q, q->port, true) : q->ctx->udp_sport(q->qp, q->port);
		if (error == 0) {
			publish_move(q);
			return;
		}
		if (sqd)
			go_back(q);
	}
	if (is_refusal(error))
		refuse_method(q);
	hp3v_cell_answer(q, HP3_VERBS_FAILED, error);
}

/*
 * HOLD of a queue pair in RTR: it cannot send. During the hold, the application's change to RTS
 * waits (wait_for_move()).
 */
static void hold_in_rtr(struct hp3v_qp *q, uint64_t now)
{
	q->method = HP3_VERBS_NONE;
	set_step(q, HP3V_SUSPENDED);
	q->deadline = now + q->suspended_ns;
	hp3v_cell_answer(q, HP3_VERBS_DRAINED, 0);
}

static void begin_move(struct hp3v_qp *q, uint64_t now)
{
	int error;

	if (q->op == HP3_VERBS_HOLD && q->state == IBV_QPS_RTR) {
		hold_in_rtr(q, now);
		return;
	}
	q->method = __atomic_load_n(&q->ctx->method, __ATOMIC_RELAXED);
	error = refusal_of_move(q, q->op);
	if (error == 0 && q->op == HP3_VERBS_MOVE_NOW) {
		turn_now(q);
		return;
	}
	if (error == 0 && q->method == HP3_VERBS_SQD) {
		error = hp3v_sqd_begin(q);
		if (is_refusal(error))
			refuse_method(q);
	} else if (error == 0)
		hp3v_hold_close(q);
	if (error != 0) {
		hp3v_cell_answer(q, HP3_VERBS_FAILED, error);
		return;
	}
	set_step(q, HP3V_DRAINING);
	q->deadline = now + hp3v_get(&bounds.drain_ns);
	look_whether_drained(q, now);
}

/*
 * MOVE or PLACE while a move is under way. Rule 20: if the move began with SUSPEND_HELD, the port
 * must not change before the drain has ended, or after the deadline. So this function reads the
 * clock anew.
 */
static void change_aim(struct hp3v_qp *q, uint8_t op, uint16_t port)
{
	int error = 0;

	if (q->op == HP3_VERBS_HOLD ||
		(q->op == HP3_VERBS_SUSPEND_HELD && q->step == HP3V_DRAINING))
		error = EBUSY;
	else if (q->step == HP3V_SUSPENDED && hp3_clock_ns(CLOCK_MONOTONIC) >= q->deadline)
		error = ETIMEDOUT;
	if (error != 0) {
		end_move(q, HP3_VERBS_FAILED, error);
		return;
	}
	q->op = op;
	q->port = port;
	if (q->step == HP3V_SUSPENDED)
		turn_port(q);
}

static void begin_op(struct hp3v_qp *q, uint8_t op, uint16_t detail, uint64_t now)
{
	bool timed = op == HP3_VERBS_SUSPEND_HELD || op == HP3_VERBS_HOLD;

	if (q->step != HP3V_IDLE)
		go_back(q); /* hp3d has ended the move before, by a RESUME that was not read */
	if (q->step != HP3V_IDLE) {
		hp3v_cell_answer(q, HP3_VERBS_FAILED, EBUSY);
		return;
	}
	q->op = op;
	q->port = detail;
	q->suspended_ns = timed ? (detail * MS_NS < LONGEST_NS ? detail * MS_NS : LONGEST_NS)
				: hp3v_get(&bounds.hold_ns);
	begin_move(q, now);
}

void hp3v_move_command(struct hp3v_qp *q, uint64_t want, uint64_t now)
{
	uint8_t op = hp3_verbs_unpack_code(want);
	uint16_t port = hp3_verbs_unpack_detail(want);
	bool to_port = op == HP3_VERBS_MOVE || op == HP3_VERBS_MOVE_NOW || op == HP3_VERBS_PLACE;

	if (want == q->want)
		return;
	q->want = want;
	if (hp3_verbs_unpack_generation(want) != q->cell->generation || op == HP3_VERBS_NOTHING)
		return;
	if (op == HP3_VERBS_PLACE && port == 0)
		q->placed = true;
	else if (op >= HP3_VERBS_OP_MAX || (to_port && port < 0xc000))
		hp3v_cell_answer(q, HP3_VERBS_FAILED, EINVAL);
	else if (op == HP3_VERBS_PLACE && q->state == IBV_QPS_RTR)
		q->place = port; /* takes effect with RTS */
	else if (op == HP3_VERBS_MOVE_NOW && q->step == HP3V_RETURNING &&
		 q->method == HP3_VERBS_SQD) {
		q->port = port; /* this path is dead, too */
		turn_now(q);
	} else if (q->step == HP3V_RETURNING)
		hp3v_cell_answer(q, HP3_VERBS_FAILED, EBUSY);
	else if (op == HP3_VERBS_RESUME) {
		if (q->step == HP3V_IDLE)
			hp3v_cell_answer(q, HP3_VERBS_RESUMED, 0);
		else
			end_move(q, HP3_VERBS_RESUMED, 0);
	} else if (to_port && q->step != HP3V_IDLE)
		change_aim(q, op, port);
	else
		begin_op(q, op, port, now);
}

bool hp3v_move_place_label(struct hp3v_qp *q, uint32_t *label)
{
	if (q->place == 0)
		return false;
	q->port = q->place;
	q->place = 0;
	q->op = HP3_VERBS_PLACE;
	*label = hp3v_label_of(q->port);
	return true;
}

void hp3v_move_place_done(struct hp3v_qp *q, int error)
{
	if (error == 0)
		show_port(q);
	hp3v_cell_answer(q, error == 0 ? HP3_VERBS_MOVED : HP3_VERBS_FAILED, error);
}

/* No work request was posted, so the port can change at once. */
void hp3v_move_ready(struct hp3v_qp *q)
{
	int error;

	if (q->place == 0)
		return;
	q->port = q->place;
	q->place = 0;
	q->op = HP3_VERBS_PLACE;
	q->method = __atomic_load_n(&q->ctx->method, __ATOMIC_RELAXED);
	error = hp3v_responds(q) ? EPERM : q->method == HP3_VERBS_NONE ? EOPNOTSUPP : 0;
	if (error == 0)
		turn_now(q);
	else
		hp3v_cell_answer(q, HP3_VERBS_FAILED, error);
}

void hp3v_move_tick(struct hp3v_qp *q, uint64_t now)
{
	if (q->step == HP3V_DRAINING)
		look_whether_drained(q, now);
	else if (q->step == HP3V_RETURNING)
		go_back(q);
	else if (q->step == HP3V_SUSPENDED) {
		if (__atomic_load_n(&q->failed, __ATOMIC_ACQUIRE))
			end_move(q, HP3_VERBS_FAILED, EIO);
		else if (q->method == HP3_VERBS_SPORT && q->hold != HP3V_HELD)
			end_move(q, HP3_VERBS_FAILED, ENOBUFS);
		else if (now >= q->deadline)
			end_move(q, HP3_VERBS_FAILED, ETIMEDOUT);
	}
}

void hp3v_move_forsaken(struct hp3v_qp *q, uint64_t want, uint64_t now)
{
	if (hp3_verbs_unpack_code(want) == HP3_VERBS_MOVE_NOW)
		hp3v_move_command(q, want, now);
	q->want = want;
	if (q->op == HP3_VERBS_HOLD && q->step == HP3V_SUSPENDED)
		return; /* the peer's queue pair may still move */
	if (q->step == HP3V_DRAINING || q->step == HP3V_SUSPENDED)
		end_move(q, HP3_VERBS_RESUMED, 0);
}

void hp3v_move_stop(struct hp3v_qp *q)
{
	if (q->step == HP3V_IDLE)
		return;
	set_step(q, HP3V_IDLE);
	hp3v_cell_answer(q, HP3_VERBS_FAILED, ECANCELED);
}

void hp3v_move_stopped(struct hp3v_qp *q)
{
	if (q->state == IBV_QPS_RESET)
		hp3v_hold_drop(q);
	else if (!hp3v_hold_release(q)) {
		q->method = HP3_VERBS_SPORT;
		set_step(q, HP3V_RETURNING);
	}
}
