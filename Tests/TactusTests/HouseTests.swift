import Foundation
import TestSupport
import Testing

/// Rules of the house that a reader of the sources can check, and therefore a test does.
@Suite("Rules of the house", .ownThread)
struct HouseTests {
  static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  static func sources(_ floors: [String]) throws -> [(path: String, text: String)] {
    try floors.flatMap { floor in
      let folder = root.appendingPathComponent("Sources/\(floor)")
      let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
      return try files.compactMap { $0 as? URL }.filter { ["swift", "c", "h"].contains($0.pathExtension) }
        .map { ("\(floor)/\($0.lastPathComponent)", try String(contentsOf: $0, encoding: .utf8)) }
    }
  }

  /// Every folder of Sources.
  static let all = try! FileManager.default.contentsOfDirectory(atPath: root.appending(path: "Sources").path)

  /// Gives the client, which knows nothing of the runtime, its time.
  private static let clientClock = "TactusClient/SystemClock.swift"

  @Test(
    "nothing outside the runtime reads a clock or sleeps but the client's clock; nothing at all but it and the log's time stamp asks for the date"
  )
  func clocks() throws {
    let clocks = ["clock_gettime", "ContinuousClock", "SuspendingClock", "DispatchTime.now", "mach_absolute_time"]
    let sleeps = ["Task.sleep", "usleep", "nanosleep", "Thread.sleep", " sleep("]
    let dates = ["CLOCK_REALTIME", "Date()", "gettimeofday", "time(nil)", "time(NULL)", "DispatchWallTime"]
    // That file lists what the kernel lets a child do.
    for (path, text) in try Self.sources(Self.all) where path != "CProcess/calls.c" {
      for word in dates where text.contains(word) {
        #expect(
          ["CTactus/time.c", "Tactus/WallClock.swift", "CTactus/CTactus.h", Self.clientClock].contains(path),
          "\(path): \(word)")
      }
      guard !path.hasPrefix("Tactus/"), !path.hasPrefix("CTactus/"), path != Self.clientClock else { continue }
      for word in clocks + sleeps { #expect(!text.contains(word), "\(path): \(word)") }
    }
  }

  @Test("no test is one of XCTest: the tests' program runs none of them")
  func framework() throws {
    let folder = Self.root.appending(path: "Tests")
    let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
    for case let file as URL in files where file.pathExtension == "swift" {
      let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
      #expect(!lines.contains { $0.hasSuffix("import " + "XCTest") }, "\(file.lastPathComponent)")
    }
  }

  @Test("docs/decisions: a page has its row in the index, with its date; a row has its page")
  func decisions() throws {
    let folder = Self.root.appending(path: "docs/decisions")
    let index = try String(contentsOf: folder.appending(path: "README.md"), encoding: .utf8)
    var rows: [String: String] = [:]
    for line in index.split(separator: "\n") {
      guard let row = line.wholeMatch(of: /\| \[.+\]\((.+\.md)\) \|.*\| (\d{4}-\d\d-\d\d) \|.*\|/) else { continue }
      rows[String(row.1)] = String(row.2)
    }
    let pages = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0 != "README.md" }
    #expect(rows.keys.sorted() == pages.sorted())
    for page in pages {
      let text = try String(contentsOf: folder.appending(path: page), encoding: .utf8)
      #expect(text.contains("*Decided on \(rows[page] ?? "a date")."), "\(page)")
    }
  }

  /// The compiler keeps what is `package` from them: their targets are built without access to it (`packageAccess`).
  @Test("what a system imports of this package is in a library product: a system of another package may have it, too")
  func products() throws {
    let offered = Set(try DocumentCommentTests.products())
    var found: Set<String> = []
    // Without the programs that run beside the daemon.
    let folders = Self.systems.flatMap { ["Systems/\($0)/Control", "Systems/\($0)/Daemon", "Systems/\($0)/Documents"] }
    for (path, text) in try Self.sources(folders + Self.formats + ["Systems/Water", "TactusProgram"]) {
      for line in text.split(separator: "\n") {
        guard let name = line.wholeMatch(of: /(?:@\S+ )?(?:public )?import (\w+)/)?.1, Self.all.contains(String(name))
        else {
          continue
        }
        found.insert(String(name))
        #expect(offered.contains(String(name)), "\(path): \(name)")
      }
    }
    try #require(found.count > 12)
    let manifest = try String(contentsOf: Self.root.appending(path: "Package.swift"), encoding: .utf8)
    // What systems share, the programs, the probe of a declared system; and once for all controls, all daemon parts, and all swarm parts.
    // Beside them the client and its probe.
    #expect(manifest.ranges(of: "packageAccess: false").count == 10)
  }

  @Test("the runtime's traps say why in an optimised build, too: precondition drops its text there")
  func texts() throws {
    for (path, text) in try Self.sources(["Tactus"]) {
      for word in ["precondition(", "preconditionFailure(", "assert("] {
        #expect(!text.contains(word), "\(path): \(word)")
      }
    }
  }

  /// Where numbers come from outside: bytes, bodies, files, rows, registers, answers of the kernel and of a bus. The simulated buses make theirs
  /// themselves.
  private static let decoders =
    [
      "Wire", "WallTime", "Service", "TactusDaemon", "TactusSwarm", "Store", "Devices", "BusesLinux", "TactusGuard",
      "MQTTMosquitto", "SystemBus", "AvahiSystemd", "BluetoothBlueZ", "Systems/Video/Process",
    ] + systems.flatMap { ["Systems/\($0)/Control", "Systems/\($0)/Daemon"] } + formats

  private static let formats = systems.filter { $0 != "Sprinkler" }.map { "Systems/\($0)/Wire" }

  private static let systems = ["Robot", "Leg", "Sprinkler", "Plants", "Pump", "Video"]

  /// What reads like a conversion of a number that is not a constant.
  nonisolated(unsafe) private static let conversion =
    /(^|[^\w.])((U?Int(8|16|32|64)?|numericCast|abs)\((?![a-zA-Z]+:|\))|U?Int(8|16|32|64)?\.init\b)|\.(milli)?seconds\((?!-?[\d_]+\))/

  /// The compiler finds them by their types; here is what keeps it at that.
  @Test(
    "where numbers come from outside, each file in which one is converted has trapping conversions hidden, and forces none"
  )
  func conversions() throws {
    let manifest = try String(contentsOf: Self.root.appending(path: "Package.swift"), encoding: .utf8)
    #expect(manifest.contains(".treatWarning(\"DeprecatedDeclaration\", as: .error)"))
    // A system that is new is asked for, too.
    let systems = try FileManager.default.contentsOfDirectory(atPath: Self.root.appending(path: "Sources/Systems").path)
    for system in systems where !["Pictures", "Water", "README.md"].contains(system) {
      #expect(Self.decoders.contains("Systems/\(system)/Daemon"))
      #expect(manifest.contains("\"\(system)\""))
    }
    for (path, text) in try Self.sources(Self.decoders) where path.hasSuffix(".swift") {
      let hides =
        text.contains("\n@_spi(FromOutside) import Conversions\n")
        || text.hasPrefix("@_spi(FromOutside) import Conversions\n")
      for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
        guard !line.drop(while: { $0 == " " }).hasPrefix("//") else { continue }
        #expect(
          hides || !line.contains(Self.conversion),
          "\(path):\(number + 1): expected the line of Sources/Conversions: \(line)")
        let isTrapping = line.contains(/(exactly|truncating): [^"]*\)!/) || line.contains(/\bInt\d*\([^":]*\.rounded\(/)
        #expect(!isTrapping, "\(path):\(number + 1): \(line)")
      }
    }
  }

  @Test(
    "a file with that line has each trapping conversion as an error; what cannot fail stays; a file without it sees none of it"
  )
  func hidden() throws {
    let trapping = [
      "UInt8(counts)", "Int(seconds)", "UInt32(seconds)", "Int(size)", "Int64(size)", "UInt(counts)", "UInt16(counts)",
      "[counts].map(UInt8.init)", "abs(counts)", "numericCast(counts) as UInt8", "Duration.seconds(seconds)",
    ]
    let total = [
      "Int(byte)", "UInt16(byte)", "UInt8(byte)", "UInt8(3)", "Int(\"12\")", "UInt8(clamping: counts)", "abs(seconds)",
      "Duration.seconds(counts)",
    ]
    let lines = (trapping + total).map {
      "{ (counts: Int, size: UInt64, byte: UInt8, seconds: Double) -> Any? in \($0) },"
    }
    let text =
      "let conversions: [@Sendable (Int, UInt64, UInt8, Double) -> Any?] = [\n" + lines.joined(separator: "\n")
      + "\n]\n"
    let options = ["-Werror", "DeprecatedDeclaration", "-module-name", "Decoder"]
    let (status, output) = try compile("@_spi(FromOutside) import Conversions\n" + text, options: options)
    #expect(status != 0)
    // The first expression is in the third line.
    let refused = Set(output.matches(of: /Loop\.swift:(\d+):\d+: error:/).map { Int($0.output.1) ?? 0 })
    #expect(refused == Set(3..<3 + trapping.count), "\(output)")
    let without = try compile("import Conversions\n" + text, options: options)
    #expect(without.status == 0, "\(without.output)")
  }

  @Test("every link of a page leads to a file")
  func links() throws {
    let files = try #require(
      FileManager.default.enumerator(at: Self.root, includingPropertiesForKeys: nil, options: .skipsHiddenFiles))
    let pages = files.compactMap { $0 as? URL }.filter { $0.pathExtension == "md" }
    try #require(pages.count > 50)
    for page in pages {
      let text = try String(contentsOf: page, encoding: .utf8)
      let links =
        text.matches(of: /\]\(([^)#\s]+)(#[^)\s]*)?\)/).map(\.output.1)
        + text.matches(of: /src="([^"]+)"/).map(\.output.1)
      for link in links where !link.contains("://") {
        let isThere = FileManager.default.fileExists(
          atPath: page.deletingLastPathComponent().appending(path: String(link)).path)
        #expect(isThere, "\(page.path): \(link)")
      }
    }
  }

  @Test("every tick and every safe state carries the promise that the compiler proves")
  func promises() throws {
    for (path, text) in try Self.sources(Self.all) where path != "Tactus/ControlLoop.swift" {
      let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
      for (number, line) in lines.enumerated() {
        guard line.contains("mutating func tick(_ tick: Tick)") || line.contains("mutating func safeState(_ tick: Tick")
        else { continue }
        let promised = number > 0 && lines[number - 1].contains("@_noLocks @_noAllocation")
        #expect(promised, "\(path):\(number + 1)")
      }
    }
  }
}
