#!/bin/bash
# HyperPod runs this once, as root, on every new node; the node joins only if it exits 0.
#
# A vLLM image unpacks to more than the root volume holds. So images (/var/lib/containerd) and pod
# data (/var/lib/kubelet) move to the node's large volume: its NVMe disks, else its EBS volume.
# They are bind mounted, so that no configuration of containerd or kubelet is touched.
#
# A node without a large volume is refused. It would take pods, fill its root volume while it pulls
# the image, evict them and start again, at the price of a GPU node.
set -euo pipefail
shopt -s nullglob

readonly root="${DPD_ROOT:-}" # tests only: a folder that stands for /
readonly log="${root}/var/log/provision/provisioning.log"
readonly units="${root}/etc/systemd/system"
readonly nvme=/opt/dlami/nvme ebs=/opt/sagemaker
readonly services=(containerd kubelet)
readonly wait_seconds=180 poll_seconds=5 upload_seconds=60

say() {
  printf '%s on_create: %s\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$*"
}

# HyperPod terminates a failed node at once; the log has to reach CloudWatch before that.
linger_on_failure() {
  local status=$?
  if ((status != 0)); then
    say "failed with exit status ${status}"
    sync
    sleep "${upload_seconds}"
  fi
}

is_mounted() {
  mountpoint -q "${root}$1"
}

# Sets `volume`. The NVMe disks are assembled while the node boots, so where the node has any they
# are worth the whole wait; only then is the slower EBS volume taken instead.
find_volume() {
  local instance_store=("${root}"/dev/disk/by-id/*NVMe_Instance_Storage*)
  local waited
  for ((waited = 0; ; waited += poll_seconds)); do
    if is_mounted "${nvme}"; then
      volume="${nvme}"
      return
    fi
    if is_mounted "${ebs}" && ((${#instance_store[@]} == 0 || waited >= wait_seconds)); then
      volume="${ebs}"
      return
    fi
    if ((waited >= wait_seconds)); then
      say "ERROR: neither ${nvme} nor ${ebs} was mounted after ${wait_seconds} seconds;" \
        "images would fill the root volume. Give the instance group an EBS volume" \
        "(volumeSize) or an instance type with NVMe disks"
      return 1
    fi
    sleep "${poll_seconds}"
  done
}

# After a reboot the bind mounts must not come before the volume: systemd would make the missing
# source folder on the root volume and mount that. Whoever mounts the volume, this waits for it.
write_wait_unit() {
  cat >"${units}/$1" <<UNIT
[Unit]
Description=Wait until ${volume} is mounted

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/sh -c 'until mountpoint -q ${volume}; do sleep 1; done'
TimeoutStartSec=${wait_seconds}
UNIT
}

# DefaultDependencies=no: an ordinary mount comes before local-fs.target, and services such as the
# wait unit after it, which would be a cycle. RequiredBy: without its volume the service must fail.
write_mount_unit() {
  cat >"${units}/var-lib-$1.mount" <<UNIT
[Unit]
Description=Keep /var/lib/$1 on ${volume}
DefaultDependencies=no
Requires=$2
After=$2
Conflicts=umount.target
Before=umount.target $1.service

[Mount]
What=${volume}/$1
Where=/var/lib/$1
Type=none
Options=bind

[Install]
RequiredBy=$1.service
UNIT
}

# What an unfinished run left on the volume is replaced: until it is mounted, /var/lib is right.
copy_to_volume() {
  local source="${root}/var/lib/$1" target="${root}${volume}/$1"
  mkdir -p "${source}"
  rm -rf "${target}"
  mkdir -p "${target}"
  cp --archive --one-file-system "${source}/." "${target}/"
}

move() {
  local service wait_unit to_move=() running=() mounts=()
  for service in "${services[@]}"; do
    if is_mounted "/var/lib/${service}"; then
      say "/var/lib/${service} is a mount already"
    else
      to_move+=("${service}")
    fi
  done
  if ((${#to_move[@]} == 0)); then
    say "nothing to do"
    return
  fi

  find_volume
  say "moving ${to_move[*]} to ${volume}"
  for service in "${services[@]}"; do
    if systemctl is-active --quiet "${service}.service"; then
      running+=("${service}.service")
    fi
  done
  if ((${#running[@]} > 0)); then
    systemctl stop "${running[@]}"
  fi

  wait_unit="wait-for-$(basename "${volume}").service"
  mkdir -p "${units}"
  write_wait_unit "${wait_unit}"
  for service in "${to_move[@]}"; do
    copy_to_volume "${service}"
    write_mount_unit "${service}" "${wait_unit}"
    mounts+=("var-lib-${service}.mount")
  done
  systemctl daemon-reload
  systemctl enable --now "${mounts[@]}"
  for service in "${to_move[@]}"; do
    if ! is_mounted "/var/lib/${service}"; then
      say "ERROR: var-lib-${service}.mount did not mount; see: journalctl -u var-lib-${service}.mount"
      return 1
    fi
  done
  if ((${#running[@]} > 0)); then
    systemctl start "${running[@]}"
  fi
  say "done"
}

main() {
  trap linger_on_failure EXIT
  move
}

mkdir -p "$(dirname "${log}")"
main 2>&1 | tee -a "${log}"
