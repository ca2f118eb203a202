# SPDX-License-Identifier: BSD-3-Clause
# bash completion of hp3's programs: commands from the list below, options from `PROGRAM --help`, names of scenarios, files.

_hp3_program() {
	local program=$1 cur=$2 commands='' command='' word ask=()
	case ${program##*/} in
	hp3-fabric) commands='check plan path entries scenario program run inject bench' ;;
	hp3-fleet) commands='run agent top links flows hosts alarms plan why order' ;;
	hp3-sim) commands='run trace report list keys sizes' ;;
	hp3-testbed) commands='up down status list stats path fail restore degrade blackhole hp3ctl exec run' ;;
	esac
	for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
		[[ " $commands " != *" $word "* ]] || { command=$word && break; }
	done
	COMPREPLY=()
	if [[ $cur == -* ]]; then
		# These two have a help text for each command.
		[[ ${program##*/} != hp3-@(sim|testbed) ]] || ask=($command)
		mapfile -t COMPREPLY < <(compgen -W "$("$program" "${ask[@]}" --help 2>/dev/null |
			grep -oE -- '(^|[^[:alnum:]-])--[a-z][a-z0-9-]+' | sed 's/^[^-]//' | sort -u)" -- "$cur")
	elif [[ -z $command ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$cur")
	elif [[ ${program##*/} == hp3-sim && $command == run ]]; then
		mapfile -t COMPREPLY < <(compgen -W "all $("$program" list 2>/dev/null |
			awk '/^[^ ]/ { on = /^scenarios:/; next } on { print $1 }')" -- "$cur")
	fi
}

# Where nothing fits, bash completes names of files.
complete -o default -F _hp3_program hp3d hp3-fabric hp3-fleet hp3-fleet-agents hp3-sim hp3-testbed hp3-watch hp3x-bench hp3x-cp roce-gen
