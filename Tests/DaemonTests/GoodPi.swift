@testable import TactusDaemon

/// A Raspberry Pi on which everything is right.
func goodPi() -> Machine {
  let files = [
    "/proc/sys/kernel/sched_rt_runtime_us": "950000",
    "/proc/sys/kernel/sched_rt_period_us": "1000000",
    "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "performance",
    "/sys/devices/system/cpu/isolated": "3",
    "/sys/devices/system/cpu/online": "0-3",
    "/sys/devices/system/clocksource/clocksource0/current_clocksource": "arch_sys_counter",
    "/sys/devices/system/clocksource/clocksource0/available_clocksource": "arch_sys_counter",
    "/sys/devices/platform/soc/soc:firmware/get_throttled": "0",
    "/proc/cmdline": "root=/dev/mmcblk0p2 isolcpus=3",
    "/etc/group": "root:x:0:\ni2c:x:994:pi\ndialout:x:20:pi\ngpio:x:993:pi",
    "/sys/class/watchdog/watchdog0/state": "active", "/sys/class/watchdog/watchdog0/timeout": "15",
  ]
  let folders = [
    "/dev": ["i2c-1", "ttyAMA0"], "/sys/devices/system/cpu": ["cpu0", "isolated"],
    "/sys/class/watchdog": ["watchdog0"],
  ]
  return Machine(
    read: { files[$0] }, list: { folders[$0] ?? [] },
    i2cFunctions: { _ in 0x0FFF_0001 }, kernelRelease: "6.6.51+rpt-rpi-v8-rt",
    kernelVersion: "#1 SMP PREEMPT_RT Debian", isRoot: false, maySetPriority: false, mayLockMemory: false,
    priorityLimit: 99, memoryLimit: nil, timeIsSynchronized: true, groups: [1000, 994, 20, 993])
}

extension Machine {
  func with(_ path: String, _ text: String?) -> Machine {
    var machine = self
    let before = read
    machine.read = { $0 == path ? text : before($0) }
    return machine
  }

  func changed(_ change: (inout Machine) -> Void) -> Machine {
    var machine = self
    change(&machine)
    return machine
  }
}
