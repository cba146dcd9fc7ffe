import Buses
import CBusesLinux
@_spi(FromOutside) import Conversions
import Glibc
import Synchronization
import Tactus

/// A sensor that a driver of the kernel reads. It is found by its name at the first reading, and again whenever its file
/// has gone, so it may be unplugged and plugged in again. Reading blocks: 750 ms for a DS18B20. One thread reads.
public final class LinuxSensor: Sendable {
  /// The name of the sensor.
  public let name: KernelSensorName
  /// The quantity that the sensor measures, which determines the unit of its values.
  public let quantity: KernelQuantity
  private let tree: KernelSensorTree
  private let root: String
  private let place = Mutex<KernelSensorTree.Place?>(nil)
  private let problem = Mutex<String?>(nil)

  /// Creates the sensor, which need not be there yet.
  ///
  /// - Parameters:
  ///   - quantity: what the sensor must measure; one that measures something else is never read.
  ///   - root: the folder below which `/sys` is looked for; empty for this machine's.
  public init(_ name: KernelSensorName, measures quantity: KernelQuantity, root: String = "") {
    (self.name, self.quantity, self.root) = (name, quantity, root)
    tree = .below(root)
  }

  /// The file that cannot be read, with the reason, or `nil` if the last reading succeeded. It may be called from any thread.
  public var trouble: String? { problem.withLock { $0 } }

  /// Reads the sensor. Blocks and allocates.
  ///
  /// - Parameter now: the instant at which the reading begins.
  public func read(at now: TickInstant) -> SensorReading {
    do throws(SensorError) {
      let value = try value()
      problem.withLock { $0 = nil }
      return SensorReading(value, at: now)
    } catch {
      return SensorReading(0, at: now, error: error)
    }
  }

  private func value() throws(SensorError) -> Double {
    let place = try found()
    let bytes: [UInt8]
    switch Self.bytes(of: root + place.file) {
    case .success(let read): bytes = read
    case .failure(let failure):
      // ENOENT, ENXIO and ENODEV mean that the device is gone. It may come back under another number.
      if [2, 6, 19].contains(failure.errno) { self.place.withLock { $0 = nil } }
      throw fail(.unreadable(errno: failure.errno), place.file, errorText(failure.errno))
    }
    let number: Double
    if place.file.hasSuffix("/w1_slave") {
      switch KernelSensorText.oneWire(bytes) {
      case .thousandths(let read): number = read
      case .badChecksum: throw fail(.implausible, place.file, "the checksum is wrong")
      case .unintelligible: throw fail(.unintelligible, place.file, "expected two lines with crc= and t=")
      }
    } else {
      guard let read = KernelSensorText.number(bytes) else {
        throw fail(.unintelligible, place.file, "expected a number")
      }
      number = read
    }
    let value = (number + place.offset) * place.scale
    if name.kind == .w1, number == 85_000 || number <= -127_000 {
      throw fail(.implausible, place.file, "\(value) °C is what a chip says that has no power or has not measured")
    }
    guard value.isFinite else {
      throw fail(.unintelligible, place.file, "expected a number, got one beyond all bounds")
    }
    return value
  }

  private func found() throws(SensorError) -> KernelSensorTree.Place {
    if let known = place.withLock({ $0 }) { return known }
    do throws(KernelSensorTree.Absence) {
      let found = try tree.find(name)
      guard found.quantity == quantity else {
        throw KernelSensorTree.Absence(
          description: "\(found.file): expected a sensor of \(quantity), found one of \(found.quantity)")
      }
      place.withLock { $0 = found }
      return found
    } catch {
      problem.withLock { $0 = "\(error)" }
      throw .missing
    }
  }

  private func fail(_ error: SensorError, _ file: String, _ why: String) -> SensorError {
    problem.withLock { $0 = "\(file): \(why)" }
    return error
  }

  fileprivate struct ReadFailure: Error { var errno: Int32 }

  fileprivate static func bytes(of file: String) -> Result<[UInt8], ReadFailure> {
    var errno: Int32 = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: KernelSensorText.longest + 1) { buffer, count in
      let result = tactus_sensor_read(file, buffer.baseAddress, Int32(clamping: buffer.count))
      if result < 0 { errno = -result }
      count = max(0, Int(result))
    }
    return errno == 0 ? .success(bytes) : .failure(ReadFailure(errno: errno))
  }
}

extension KernelSensorTree {
  /// Returns the sensors below a folder, or this machine's for an empty path.
  package static func below(_ root: String) -> KernelSensorTree {
    KernelSensorTree(
      text: { file in
        guard case .success(let bytes) = LinuxSensor.bytes(of: root + file) else { return nil }
        return String(decoding: bytes, as: UTF8.self)
      },
      names: { folder in
        guard let stream = opendir(root + folder) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
          let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
          }
          if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
      },
      link: { path in
        var bytes = [CChar](repeating: 0, count: 4096)
        let count = readlink(root + path, &bytes, bytes.count - 1)
        return count > 0 ? String(decoding: bytes.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self) : nil
      })
  }
}
