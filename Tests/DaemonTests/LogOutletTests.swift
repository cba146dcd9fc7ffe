import DaemonSupport
import Foundation
import Logging
import Service
import Synchronization
import Tactus
import TestSupport
import Testing

@testable import TactusDaemon

@Suite("log outlet", .ownThread)
struct LogOutletTests {
  private let pipe = Pipe()

  private func outlet(capacityBytes: Int) -> LogOutlet {
    LogOutlet(
      dup(pipe.fileHandleForWriting.fileDescriptor), capacityBytes: capacityBytes,
      LogOutlet.Words(dropped: { "dropped \($0)" }, lost: { "lost \($0): \($1)" }))
  }

  private func read(until end: String) -> String {
    var text = ""
    while !text.hasSuffix(end), let bytes = readWhenReady(pipe.fileHandleForReading.fileDescriptor), !bytes.isEmpty {
      text += String(decoding: bytes, as: UTF8.self)
    }
    return text
  }

  @Test("lines come out in order, and a flush waits for them")
  func order() {
    let outlet = outlet(capacityBytes: 1 << 20)
    for number in 0..<1000 { outlet.put(Array("\(number)\n".utf8)) }
    outlet.flush(limit: .seconds(60))
    #expect(read(until: "999\n") == (0..<1000).map { "\($0)\n" }.joined())
  }

  @Test("nobody reads: putting and flushing return; what does not fit is dropped, and told once somebody reads")
  func full() throws {
    let outlet = outlet(capacityBytes: 1000)
    let line = Array((String(repeating: "x", count: 99) + "\n").utf8)
    // More than a pipe of 64 KB and the queue hold.
    for _ in 0..<2000 { outlet.put(line) }
    outlet.flush(limit: .milliseconds(1))
    var text = ""
    while !text.contains("dropped") {
      let bytes = try #require(readWhenReady(pipe.fileHandleForReading.fileDescriptor))
      text += String(decoding: bytes, as: UTF8.self)
    }
    // What still waits may fill the queue, and would have the end dropped.
    outlet.flush(limit: .seconds(60))
    outlet.put(Array("end\n".utf8))
    text += read(until: "end\n")
    let lines = text.split(separator: "\n")
    let dropped = lines.compactMap { $0.hasPrefix("dropped ") ? Int($0.dropFirst(8)) : nil }.reduce(0, +)
    #expect(lines.count { $0.hasPrefix("x") } + dropped == 2000)
    #expect(dropped > 0)
  }

  @Test("another descriptor: the lines after the change go there, whole")
  func replaced() {
    let outlet = outlet(capacityBytes: 1 << 20)
    let other = Pipe()
    outlet.put(Array("one\n".utf8))
    outlet.flush(limit: .seconds(60))
    outlet.replace(dup(other.fileHandleForWriting.fileDescriptor))
    outlet.put(Array("two\n".utf8))
    #expect(readWhenReady(other.fileHandleForReading.fileDescriptor) == Array("two\n".utf8))
    #expect(read(until: "one\n") == "one\n")
  }
}

@Suite("a log's file on a full disk", .ownThread)
struct FullDiskTests {
  @Test("what cannot be written is counted and told once, and before the next line that can be")
  func lost() throws {
    let pipe = Pipe()
    let told = Mutex<[String]>([])
    let full = open("/dev/full", O_WRONLY | O_CLOEXEC)
    try #require(full >= 0)
    let outlet = LogOutlet(
      full,
      LogOutlet.Words(
        dropped: { "dropped \($0)" }, lost: { "lost \($0): \($1)" },
        failed: { reason in told.withLock { $0.append(reason) } }))
    #expect(outlet.failure == nil)
    for number in 0..<3 { outlet.put(Array("\(number)\n".utf8)) }
    outlet.flush(limit: .seconds(60))
    let reason = String(cString: strerror(ENOSPC))
    #expect(outlet.failure?.reason == reason && outlet.failure?.lost == 3 && outlet.missing == 3)
    #expect(told.withLock { $0 } == [reason])
    outlet.replace(dup(pipe.fileHandleForWriting.fileDescriptor))
    for number in 3..<5 { outlet.put(Array("\(number)\n".utf8)) }
    outlet.flush(limit: .seconds(60))
    #expect(outlet.failure == nil && outlet.missing == 3)
    let bytes = readWhenReady(pipe.fileHandleForReading.fileDescriptor) ?? []
    #expect(String(decoding: bytes, as: UTF8.self) == "lost 3: \(reason)\n3\n4\n")
  }

  @Test("health names the file and the reason while lines are lost, and no longer")
  func health() throws {
    let log = ProgramLog(format: .text, level: .info, console: false, secrets: [])
    try log.sink.open(path: "/dev/full")
    #expect(log.trouble == nil)
    log.logger("tactus").info("nobody will read this")
    log.sink.flush(limit: .seconds(60))
    #expect(log.trouble?.code == "LOG_FAILED")
    #expect(log.trouble?.message.contains("/dev/full cannot be written (\(String(cString: strerror(ENOSPC))))") == true)
    #expect(log.sink.missing.file == 1)
    try log.sink.open(path: "/dev/null")
    log.logger("tactus").info("nor this")
    log.sink.flush(limit: .seconds(60))
    #expect(log.trouble == nil && log.sink.missing.file == 1)
  }
}

@Suite("program log", .ownThread)
struct ProgramLogTests {
  @Test("a line: scrubbed, kept with its system and level whatever the console shows")
  func kept() throws {
    let log = ProgramLog(format: .text, level: .error, secrets: ["known-secret"])
    var logger = log.logger("tactus")
    logger[metadataKey: "system"] = "robot"
    logger.warning("below the level")
    logger.error("with known-secret", metadata: ["token": "abc", "number": .stringConvertible(7)])
    let page = log.history.page(since: 0, limit: 10, system: "robot")
    try #require(page.lines.count == 1)
    let object = try #require(try JSONSerialization.jsonObject(with: Data(page.lines[0].utf8)) as? [String: Any])
    #expect(object["msg"] as? String == "with [scrubbed]" && object["token"] as? String == "[scrubbed]")
    #expect(object["number"] as? Int == 7 && object["level"] as? String == "error" && object["seq"] as? Int == 0)
  }

  @Test("the level changed while running: in effect for every logger that has none of its own")
  func level() {
    let log = ProgramLog(format: .json, level: .critical, secrets: [])
    let logger = log.logger("tactus")
    var own = log.logger("tactus")
    own.logLevel = .critical
    log.threshold.level = .debug
    #expect(logger.logLevel == .debug && own.logLevel == .critical)
    logger.debug("said")
    own.debug("not said")
    #expect(log.history.page(since: 0, limit: 10).lines.count == 1)
  }
}
