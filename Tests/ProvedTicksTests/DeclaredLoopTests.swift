import Foundation
import TestSupport
import Testing

@testable import ProvedTicksTool

@Suite("What ProvedTicks finds in sources")
struct DeclaredLoopTests {
  static func names(_ text: String) -> [String] { DeclaredLoop.all(in: [text])[0].map(\.name) }
  static func obstacle(_ text: String) -> DeclaredLoop.Obstacle? { DeclaredLoop.all(in: [text])[0].first?.obstacle }

  @Test(
    "a conformance is found wherever it stands",
    arguments: [
      ("struct Axis: ControlLoop { var x = 1 }", ["Axis"]),
      ("public struct Axis: ~Copyable, ControlLoop, NoOutput {}", ["Axis"]),
      ("struct Axis: NoOutput {}", ["Axis"]),
      ("struct Axis:\n  ~Copyable,\n  Tactus.ControlLoop\n{}", ["Axis"]),
      ("struct Axis {}\nextension Axis: ControlLoop {}", ["Axis"]),
      ("enum Robot { struct Balance: ControlLoop {} }", ["Robot.Balance"]),
      ("extension Robot.Head { final class Nod: ControlLoop {} }", ["Robot.Head.Nod"]),
      ("struct A: ControlLoop { func f() { if x { } } }\nstruct B: ControlLoop {}", ["A", "B"]),
      ("import struct Foundation.Data\nstruct A: ControlLoop {}", ["A"]),
      ("@available(macOS 99, *) @frozen public struct A: ControlLoop {}", ["A"]),
      ("private struct P {}\nstruct A: ControlLoop {}", ["A"]),
      ("struct A { private var x: Int { 1 } }\nextension A: ControlLoop {}", ["A"]),
    ])
  func found(text: String, names: [String]) {
    #expect(Self.names(text) == names)
    #expect(Self.obstacle(text) == nil)
  }

  @Test(
    "what is no conformance is none",
    arguments: [
      "// struct Axis: ControlLoop {}", "/* /* struct A: ControlLoop {} */ struct B: ControlLoop {} */",
      "let text = \"struct A: ControlLoop {}\"", "let text = \"\"\"\n  struct A: ControlLoop {}\n  \"\"\"",
      "let text = #\"a \" struct A: ControlLoop {}\"#", "let text = \"\\(name(\"}\")) struct A: ControlLoop {}\"",
      "struct Box<Loop: ControlLoop> {}", "func make<Loop>(_: Loop) where Loop: ControlLoop {}",
      "struct Box<Loop>: Sendable where Loop: ControlLoop {}", "extension ControlLoop where Self: Sendable {}",
      "class func make(loop: ControlLoop) {}", "let kind = Kind.struct; func f(a: any ControlLoop) {}",
    ])
  func notFound(text: String) { #expect(Self.names(text) == []) }

  @Test("a loop that another file cannot name is told apart, with the reason")
  func obstacles() {
    #expect(Self.obstacle("private struct A: ControlLoop {}") == .isPrivate)
    #expect(Self.obstacle("fileprivate enum A { struct B: ControlLoop {} }") == .isPrivate)
    #expect(Self.obstacle("func f() { struct A: ControlLoop {} }") == .isLocal)
    #expect(Self.obstacle("struct A<T>: ControlLoop {}") == .isGeneric)
    #expect(Self.obstacle("struct A<T> { struct B: ControlLoop {} }") == .isGeneric)
  }

  @Test("a protocol that refines a loop's makes loops, in whatever file, over any number of steps")
  func refinements() {
    let found = DeclaredLoop.all(in: [
      "struct A: Timed {}", "protocol Timed: Named {}", "protocol Named: ~Copyable, ControlLoop {}",
      "struct B: Other {}",
    ])
    #expect(found.map { $0.map(\.name) } == [["A"], [], [], []])
  }

  @Test("lines are counted through comments, strings and what is in them")
  func lines() {
    let text = "/*\n*/ let a = \"\"\"\n  x \\(b(\n\"\"))\n\"\"\"\n\nstruct A: ControlLoop {}"
    #expect(DeclaredLoop.all(in: [text]) == [[DeclaredLoop(name: "A", line: 7, obstacle: nil)]])
  }

  @Test("what is written calls tick, safe state and deadline of each loop, and names the page")
  func written() {
    let text = ProvedTicksTool.source([DeclaredLoop(name: "Robot.Balance", line: 1, obstacle: nil)])
    for line in [
      "import Tactus", "@_noLocks @_noAllocation", "_ loop: inout Robot.Balance,", "loop.tick(tick)",
      "loop.safeState(tick, cause: cause)", "loop.nextDeadline", "Tactus.docc/WhatATickMayDo.md",
    ] { #expect(text.contains(line), "\(line)") }
  }

  @Test("every loop of this package carries the promise on its tick, safe state and deadline")
  func ours() throws {
    let root = URL(filePath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    var count = 0
    for folder in ["Sources", "Examples", "Benchmarks"] {
      let files = try #require(
        FileManager.default.enumerator(at: root.appending(path: folder), includingPropertiesForKeys: nil))
      for case let file as URL in files
      where file.pathExtension == "swift" && !file.path.contains("/.build") && !file.path.contains("ProvedTicksTool") {
        let text = try String(contentsOf: file, encoding: .utf8)
        let loops = DeclaredLoop.all(in: [text])[0]
        let words = SwiftWords(text).words.map(\.text).joined(separator: " ")
        let promise = "@ _noLocks @ _noAllocation"
        for (part, needed) in [
          ("mutating func tick ( _ tick : Tick )", loops.count),
          ("mutating func safeState ( _ tick : Tick , cause : SafeStateCause )", 0),
        ] where !loops.isEmpty {
          let all = words.components(separatedBy: part).count - 1
          let promised = ["", "public ", "package "].map {
            words.components(separatedBy: "\(promise) \($0)\(part)").count - 1
          }
          #expect(all >= needed && all == promised.reduce(0, +), "\(file.path): \(part)")
        }
        let deadline = "var nextDeadline : TickInstant ? {"
        let deadlines = words.components(separatedBy: deadline).count
        #expect(
          loops.isEmpty || words.components(separatedBy: "\(deadline) \(promise) get").count == deadlines,
          "\(file.path): nextDeadline")
        count += loops.count
      }
    }
    #expect(count >= 18)
  }
}
