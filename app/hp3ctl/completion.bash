# SPDX-License-Identifier: BSD-3-Clause
# bash completion of hp3ctl

_hp3ctl_flows() {
	# The id is the first column; ids have ':' only with IPv6, which readline splits at.
	hp3ctl ${1:+--socket "$1"} flows 2>/dev/null | awk 'NR > 1 { print $1 }'
}

_hp3ctl() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
	local commands='flows show stats move events why paths trace probes watch config health'
	local options='--socket --json --help --version'
	local command='' socket='' i
	COMPREPLY=()

	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		--socket) socket=${COMP_WORDS[++i]} ;;
		--port | --wait | --since | --repeat | --interval | --ttl) ((i++)) ;;
		-*) ;;
		*) command=${command:-${COMP_WORDS[i]}} ;;
		esac
	done
	case $prev in
	--socket)
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		return
		;;
	--port | --wait | --since | --repeat | --interval | --ttl) return ;;
	esac
	case $command in
	'') options="$commands $options" ;;
	stats) options+=' --nonzero --explain' ;;
	events) options+=' --all --follow --since' ;;
	watch) options+=' --interval' ;;
	trace) options+=' --ttl --known' ;;
	move) options+=' --port --random --home --all --wait --no-wait --repeat --interval' ;;
	esac
	case $command in
	show | move | why | trace)
		if [[ $cur != -* ]]; then
			options=$(_hp3ctl_flows "$socket")
			# What readline regards as words before the last ':' must not come again.
			if [[ $cur == *:* && $COMP_WORDBREAKS == *:* ]] &&
				declare -F __ltrim_colon_completions >/dev/null; then
				mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")
				__ltrim_colon_completions "$cur"
				return
			fi
		fi
		;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")
}

complete -F _hp3ctl hp3ctl
