import Foundation
import Tactus
import Wire

func measureParser(file: String, count: String) throws {
  guard let count = Int(count) else { fail("expected a number") }
  let lines = try Data(contentsOf: URL(filePath: file)).split(separator: 0x0A).map { [UInt8]($0) }
  guard !lines.isEmpty else { fail("\(file): no line") }
  var (errors, bytes) = (0, 0)
  let began = MonotonicClock.now
  for number in 0..<count {
    let line = lines[number % lines.count]
    do throws(PlantMessageError) {
      let message = try line.withUnsafeBytes { bytes in
        Result { () throws(PlantMessageError) in try PlantMessage.parse(bytes) }
      }.get()
      bytes += message.payload.utf8.count
    } catch {
      errors += 1
    }
  }
  let nanoseconds = (MonotonicClock.now - began).count
  print("{\"ns\":\(nanoseconds),\"messages\":\(count),\"errors\":\(errors),\"payload_bytes\":\(bytes)}")
}
