import DaemonSupport
import Glibc
import Service
import TestSupport
import Testing

@testable import TactusDaemon

@Suite("what people name as a file and is none", .ownThread)
struct OutsideFileTests {
  /// A named pipe whose other end nobody opens: who opens it and waits never returns.
  private func pipe(in folder: TemporaryFolder) throws -> String {
    let path = folder.path("pipe")
    try #require(mkfifo(path, 0o600) == 0)
    return path
  }

  @Test("a named pipe, a folder and a device are no configuration: refused in words, at once")
  func configuration() throws {
    let folder = try TemporaryFolder()
    let wrong = [
      (try pipe(in: folder), "is not a file but a named pipe"), (folder.path(""), "is not a file but a folder"),
      ("/dev/null", "is not a file but a device"), (folder.path("none"), "No such file or directory"),
    ]
    for (path, words) in wrong {
      #expect {
        _ = try YAMLFile(path: path)
      } throws: {
        "\($0)".contains("cannot be read: \(words)")
      }
    }
    let long = try folder.write(String(repeating: "#", count: YAMLLimits.bytes + 1), to: "long")
    #expect { _ = try YAMLFile(path: long) } throws: { "\($0)".contains(YAMLLimits.expectedBytes) }
  }

  @Test("a command that a person types reads a pipe until it ends; a daemon does not wait for one")
  func typed() throws {
    var ends: [Int32] = [-1, -1]
    try #require(Glibc.pipe(&ends) == 0)
    defer { close(ends[0]) }
    let text = "motors:\n  backend: sim\n"
    #expect(write(ends[1], text, text.utf8.count) == text.utf8.count)
    close(ends[1])
    // As `/dev/stdin` and `<(…)` name it.
    let path = "/proc/self/fd/\(ends[0])"
    #expect(throws: ConfigErrors.self) { try Configuration.readWhole(path: path, environment: [:]) }
    let configuration = try Configuration.readWhole(path: path, environment: [:], waitingForPipes: true).configuration
    #expect(configuration.hasSystem)
  }

  @Test("the log's file: a pipe that nobody reads is refused at once, one that is read and a device are taken")
  func log() throws {
    let folder = try TemporaryFolder()
    let path = try pipe(in: folder)
    let sink = LogSink(format: .text, console: false)
    #expect(throws: FileFailure.self) { try sink.open(path: path) }
    do throws(FileFailure) { try sink.open(path: path) } catch {
      #expect(error.reason == "is not a file but a named pipe")
    }
    #expect(throws: FileFailure.self) { try sink.open(path: folder.path("")) }
    let reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    defer { close(reader) }
    try sink.open(path: path)
    sink.write("to the pipe")
    sink.flush(limit: .seconds(60))
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = read(reader, &bytes, bytes.count)
    #expect(String(decoding: bytes.prefix(max(0, count)), as: UTF8.self) == "to the pipe\n")
    try sink.open(path: "/dev/null")
    try sink.open(path: folder.path("file"))
    try sink.reopen()
  }
}
