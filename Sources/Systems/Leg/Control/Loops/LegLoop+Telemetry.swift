import Tactus

extension LegLoop {
  /// Writes a telemetry frame of every leg to the snapshot and sends it to the listeners on the leg's ports, if telemetry is due.
  @_noLocks @_noAllocation
  mutating func report() {
    let due = nextTelemetry ?? now
    guard !(now < due) else { return }
    // The telemetry stays in phase unless a whole period was missed.
    let next = due + Self.telemetryPeriod
    nextTelemetry = now < next ? next : now + Self.telemetryPeriod
    for index in 0..<count {
      if let telemetry = step(index, .report).telemetry { legs[index].status.telemetry = telemetry }
    }
    for port in 0..<ports.count {
      let leg = legs + ports.leg(port)
      let length = leg.pointee.status.telemetry.encode(into: bytes)
      guard let isSent = ports.report(port, UnsafeRawBufferPointer(start: bytes.baseAddress, count: length), at: now)
      else { continue }
      if isSent {
        leg.pointee.status.reports &+= 1
      } else {
        leg.pointee.status.reportFailures &+= 1
      }
    }
  }
}
