import Glibc
import TestSupport

/// Waits until the kernel says the descriptor is readable; false after a minute. Tests wait for what they need and
/// never for a time to pass.
func becomesReadable(_ descriptor: Int32?) -> Bool {
  guard let descriptor else { return false }
  var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
  return poll(&request, 1, patience) == 1
}
