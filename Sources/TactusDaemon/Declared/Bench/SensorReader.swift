import Buses
import BusesLinux
import Logging
import Tactus

/// Reads the sensors of one system on threads of ordinary priority, since a reading may take most of a second: those on
/// 1-Wire buses on one thread, all others on another, so that a slow thermometer holds up no inertial sensor.
///
/// The threads are those of a runtime of their own. A sensor that hangs in the kernel therefore counts as no hanging
/// loop: what reads it sees that its value is stale.
final class SensorReader: BenchLink {
  private let system: String
  private var parts: [SensorPart] = []
  private var runtime: Runtime?

  init(_ system: String) { self.system = system }

  func add(_ part: SensorPart) { parts.append(part) }

  func start() {
    let slow = parts.filter { $0.name.kind == .w1 }
    let others = parts.filter { $0.name.kind != .w1 }
    do throws(RuntimeError) {
      let runtime = try Runtime {
        for (name, parts) in [("sensors", others), ("1-wire", slow)] where !parts.isEmpty {
          Lane("\(name) \(system)") {
            for (number, part) in parts.enumerated() {
              Loop("\(system).\(name).\(number)", every: part.rate) { SensorLoop(part) }.unrecorded()
            }
          }
        }
      }
      try runtime.start()
      self.runtime = runtime
    } catch {
      // The sensors stay unread, and the failure is reported to the log.
      failure = "\(error)"
    }
  }

  private var failure: String?

  func mend(_ logger: Logger) {
    var logger = logger
    logger[metadataKey: "system"] = .string(system)
    if let failure { logger.error("the sensors are not read", metadata: ["failure": .string(failure)]) }
    failure = nil
    for part in parts { part.log(to: logger) }
  }

  func stop() {
    // The stop waits for a thermometer that is being read, but not for one that hangs in the kernel.
    do throws(RuntimeError) { try runtime?.stop(within: .seconds(2)) } catch {}
  }
}

/// Reads one sensor in each tick.
private struct SensorLoop: ~Copyable, ControlLoop, NoOutput {
  private let sensor: Unmanaged<LinuxSensor>
  private var writer: LatestWriter<SensorReading>

  init(_ part: SensorPart) {
    // The part outlives the runtime of its reader.
    sensor = Unmanaged.passUnretained(part.real!)
    writer = part.latest.writer()
  }

  @_noLocks @_noAllocation
  mutating func tick(_ tick: Tick) { writer.write(readBlocking(sensor, at: tick.started)) }
}

/// Reads a sensor, which may block and allocate. Nothing on this lane has a deadline that this could miss.
@_semantics("no_performance_analysis") @inline(never)
private func readBlocking(_ sensor: Unmanaged<LinuxSensor>, at now: TickInstant) -> SensorReading {
  sensor.takeUnretainedValue().read(at: now)
}
