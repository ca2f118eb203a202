# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Kernel and initramfs of the lab: Debian's own kernel package, unpacked into
# a cache and never installed. Whichever version apt offers today is used; no
# version is named anywhere. Sourced by `lab`; sets KERNEL (a directory with
# kernel, version and lib/modules).

CACHE=${HP3_LAB_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/hp3-lab}

# kernel_candidate: prints "PACKAGE FILE" of the kernel that apt would install.
kernel_candidate() {
	local pkg
	pkg=$(apt-cache depends --important linux-image-amd64 2>/dev/null |
		awk '$1 == "Depends:" && $2 ~ /^linux-image-/ { print $2; exit }')
	[ -n "$pkg" ] || return 1
	apt-get -qq download --print-uris "$pkg" 2>/dev/null | awk -v pkg="$pkg" 'NR == 1 { print pkg, $2 }'
}

# kernel_image FILE: unpacks the ELF image beside a vmlinuz. QEMU starts it
# directly (PVH), which saves 2 s of decompression in the emulated guest. A
# compressor unknown here only costs that time: the vmlinuz stays.
kernel_image() {
	local elf=${1%/*}/vmlinux magic tool at
	while read -r magic tool; do
		for at in $(LC_ALL=C grep -obUaP "$magic" "$1" | cut -d: -f1); do
			tail -c "+$((at + 1))" "$1" | $tool -dc >"$elf" 2>/dev/null
			[ "$(head -c 4 "$elf" | tail -c 3)" = ELF ] && return
		done
	done <<-'END'
		\xfd7zXZ\x00 xz
		\x28\xb5\x2f\xfd zstd
	END
	cp "$1" "$elf"
}

# kernel_unpack FILE DIRECTORY: the parts of the package that a guest can use.
kernel_unpack() {
	local tree=$2.new version
	rm -rf "$tree" && mkdir -p "$tree" || return 1
	dpkg-deb --fsys-tarfile "$1" | tar -x -C "$tree" --wildcards --exclude '*/drivers/gpu' \
		--exclude '*/drivers/media' --exclude '*/drivers/staging' --exclude '*/kernel/sound' \
		--exclude '*/drivers/usb' --exclude '*/drivers/scsi' --exclude '*/drivers/iio' \
		'./boot/vmlinuz*' './lib/modules/*' || return 1
	version=$(ls "$tree/lib/modules") && kernel_image "$tree/boot/vmlinuz-$version" &&
		mv "$tree/boot/vmlinux" "$tree/kernel" && rm -r "$tree/boot" &&
		depmod -b "$tree" "$version" 2>/dev/null && echo "$version" >"$tree/version" &&
		rm -rf "$2" && mv "$tree" "$2"
}

# kernel_ensure: sets KERNEL, downloading at most once per kernel version.
kernel_ensure() {
	local pkg file tmp
	mkdir -p "$CACHE" || die "cannot write $CACHE: set HP3_LAB_CACHE to a directory of yours"
	exec {cache_lock}>"$CACHE/lock"
	flock -w 300 "$cache_lock" || die "another lab has held $CACHE/lock for 5 minutes: see 'lab status'"
	read -r pkg file < <(kernel_candidate)
	if [ -z "$file" ]; then
		KERNEL=$(find "$CACHE" -maxdepth 2 -path '*/linux-image-*/version' -printf '%T@ %h\n' | sort -n | awk 'END { print $2 }')
		[ -n "$KERNEL" ] || die "apt knows no linux-image-amd64: run 'apt-get update' and try again"
		say "apt offers no kernel; using ${KERNEL##*/} from the cache"
	else
		KERNEL=$CACHE/${file%.deb}
	fi
	if [ ! -e "$KERNEL/version" ]; then
		say "fetching $pkg"
		tmp=$(mktemp -d "$CACHE/fetch.XXXXXX")
		(cd "$tmp" && timeout 300 apt-get -qq -o APT::Sandbox::User= -o Acquire::Retries=5 download "$pkg" 2>apt.err) ||
			die "cannot download $pkg ($(tail -n1 "$tmp/apt.err")): run 'apt-get update' and try again"
		kernel_unpack "$tmp"/*.deb "$KERNEL" || die "cannot unpack $pkg into $KERNEL: is the disk full?"
		rm -rf "$tmp"
	fi
	kernel_modules
	flock -u "$cache_lock"
	exec {cache_lock}>&-
}

# kernel_modules: packs the modules of modules.list, in load order, as one cpio.
kernel_modules() {
	local version list module path tree
	list=$(sed '/^#/d' "$LAB_DIR/modules.list")
	version=$(<"$KERNEL/version")
	MODULES_CPIO=$KERNEL/modules-$(cksum <<<"$list" | cut -d' ' -f1).cpio
	[ -e "$MODULES_CPIO" ] && return
	tree=$(mktemp -d "$KERNEL/tree.XXXXXX")
	mkdir -p "$tree/hp3/ko"
	for module in $list; do
		modprobe -d "$KERNEL" -S "$version" --show-depends "$module" >"$tree/deps" 2>/dev/null ||
			die "$KERNEL has no module $module: correct $LAB_DIR/modules.list"
		while read -r how path _; do
			[ "$how" = insmod ] || continue
			grep -qxF "/hp3/ko/${path##*/}" "$tree/hp3/modules" 2>/dev/null && continue
			cp "$path" "$tree/hp3/ko/"
			echo "/hp3/ko/${path##*/}" >>"$tree/hp3/modules"
		done <"$tree/deps"
	done
	rm "$tree/deps"
	(cd "$tree" && find . | cpio -o -H newc --quiet) >"$MODULES_CPIO.new" && mv "$MODULES_CPIO.new" "$MODULES_CPIO"
	rm -rf "$tree"
}

# initramfs_build FILE: the modules, then everything that may have changed since.
initramfs_build() {
	local tree dir
	tree=$(mktemp -d "$STATE/tree.XXXXXX")
	mkdir -p "$tree"/{hp3,proc,sys,dev,usr,tmp,run,root,etc,var,lab}
	for dir in bin sbin lib lib32 lib64 libx32; do
		[ -d "/usr/$dir" ] && ln -s "usr/$dir" "$tree/$dir"
	done
	cp "$(type -P busybox)" "$tree/hp3/busybox"
	cp "$LAB_DIR/init" "$tree/init"
	cp "$LAB_DIR/agent" "$tree/hp3/agent"
	printf '#!/bin/sh\nexec /usr/sbin/modprobe -d /modules "$@"\n' >"$tree/hp3/modprobe"
	chmod 755 "$tree/init" "$tree/hp3/modprobe"
	for dir in libibverbs.d alternatives ld.so.cache ld.so.conf ld.so.conf.d protocols services nsswitch.conf; do
		[ -e "/etc/$dir" ] && cp -a "/etc/$dir" "$tree/etc/"
	done
	echo root:x:0:0:root:/root:/bin/sh >"$tree/etc/passwd"
	echo root:x:0: >"$tree/etc/group"
	printf '127.0.0.1 localhost\n::1 localhost\n' >"$tree/etc/hosts"
	{ cat "$MODULES_CPIO" && (cd "$tree" && find . | cpio -o -H newc -R 0:0 --quiet); } >"$1"
	rm -rf "$tree"
}
