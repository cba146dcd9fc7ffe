import Foundation
import TestSupport
import Testing

#if Video
  private let isThere = FileManager.default.isExecutableFile(atPath: VideoChildProcess.executable)
#else
  private let isThere = false
#endif

/// What the kernel says of the video process and of its detector; Tests/Service/test_children.py tries what they may do.
@Suite("confined video process", .ownThread, .enabled(if: isThere, "needs the trait Video"))
struct VideoConfinementTests {
  private func status(_ process: pid_t) throws -> [String: String] {
    let lines = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8).split(separator: "\n")
    return Dictionary(
      lines.compactMap { line in
        line.firstIndex(of: ":").map { (String(line[..<$0]), String(line[$0...].dropFirst(2))) }
      }
    ) { first, _ in first }
  }

  @Test("no capability, none to be had, a filter on its system calls, nobody's account; the picture comes all the same")
  func video() throws {
    let child = try VideoChildProcess(VideoChildProcess.settings)
    child.order(.want(fragments: true, pictures: true))
    #expect(try child.next { if case .picture = $0 { true } else { nil } } == true)
    let status = try status(child.process)
    for name in ["CapInh", "CapPrm", "CapEff", "CapAmb"] { #expect(status[name] == "0000000000000000", "\(name)") }
    #expect(status["NoNewPrivs"] == "1" && status["Seccomp"] == "2")
    let limits = try String(contentsOfFile: "/proc/\(child.process)/limits", encoding: .utf8)
    let data = try #require(limits.split(separator: "\n").first { $0.hasPrefix("Max data size") })
    let most = try #require(data.split(separator: " ").dropFirst(3).first.flatMap { Int($0) }, "\(data)")
    #expect((256 << 20)...(1024 << 20) ~= most)
    if geteuid() == 0 {
      #expect(status["CapBnd"] == "0000000000000000")
      #expect(status["Uid"]?.split(separator: "\t").contains("0") == false, "\(status)")
      #expect(status["Groups"]?.split(separator: " ").contains("0") == false, "\(status)")
    }
  }

  @Test("the first order is no settings: it says so and ends, before any camera is opened")
  func wrongBeginning() throws {
    let child = try VideoChildProcess(nil)
    child.order(.want(fragments: true, pictures: false))
    #expect(try child.next { _ in true } == nil)
  }
}
