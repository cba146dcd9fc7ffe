import CBusesLinux

/// How devices are opened, for a program that gives up opening them itself.
package enum LinuxDevices {
  /// Sets who opens a device that this process cannot open; for good. It gets the path and the flags of open(2), and returns a descriptor or
  /// −errno; −EPERM and −EPIPE leave it at the first error.
  package static func setOpener(_ opener: @escaping @convention(c) (UnsafePointer<CChar>?, Int32) -> Int32) {
    tactus_set_device_opener(opener)
  }
}
