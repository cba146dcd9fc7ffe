import Foundation
import Plants
import Tactus

// plants-bench FILE COUNT: parses the file's lines as Plant-Tracker messages, COUNT in all; the time and the errors as JSON.
//
// Part of the main package, not of Benchmarks, so that the scripts build it beside the others.

let words = CommandLine.arguments.dropFirst().map { $0 }
guard words.count == 2, let count = Int(words[1]), let data = FileManager.default.contents(atPath: words[0]),
  !data.isEmpty
else {
  let line = "plants-bench: expected FILE COUNT\n"
  write(2, line, line.utf8.count)
  exit(64)
}
let lines = data.split(separator: 0x0A).map { [UInt8]($0) }
var (errors, bytes) = (0, 0)
let began = MonotonicClock.now
for number in 0..<count {
  do throws(PlantMessageError) {
    bytes += try PlantMessage.parse(lines[number % lines.count]).payload.utf8.count
  } catch {
    errors += 1
  }
}
let nanoseconds = (MonotonicClock.now - began).count
print("{\"ns\":\(nanoseconds),\"messages\":\(count),\"errors\":\(errors),\"payload_bytes\":\(bytes)}")
