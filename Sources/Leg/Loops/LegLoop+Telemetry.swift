import Tactus
import Wire

extension LegLoop {
  /// When it is due: a frame of every leg, into the snapshot, and to whoever sent the leg's last datagram.
  @_noLocks @_noAllocation
  mutating func report() {
    let due = nextTelemetry ?? now
    guard !(now < due) else { return }
    // In phase, unless one was missed altogether.
    let next = due + Self.telemetryPeriod
    nextTelemetry = now < next ? next : now + Self.telemetryPeriod
    for index in 0..<count {
      let action = step(index, .report)
      guard let telemetry = action.telemetry else { continue }
      legs[index].status.telemetry = telemetry
      guard let listener = legs[index].listener, (now - legs[index].heardAt).count < Self.listenerPatience.count else {
        continue
      }
      let length = telemetry.encode(into: bytes)
      if ports.send(UnsafeRawBufferPointer(start: bytes.baseAddress, count: length), from: index, to: listener) {
        legs[index].status.reports &+= 1
      } else {
        legs[index].status.reportFailures &+= 1
      }
    }
  }
}
