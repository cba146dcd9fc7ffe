import Foundation
import TestSupport
import Testing

@testable import Tactus

@Suite("Real time, inputs", .serialized, .ownThread)
struct RealTimeInputTests {
  @Test("a descriptor becomes readable: the loop runs at once, though its period is an hour")
  func input() throws {
    let ticked = try Doorbell()
    let input = try Doorbell()
    let runtime = try Runtime {
      Lane("a") {
        Loop("l", every: .period(.seconds(3600)), phase: .seconds(3000), inputs: [.descriptor(input.descriptor)]) {
          Bell(ticked: ticked.button, safe: ticked.button, descriptorToClear: input.descriptor)
        }
      }
    }
    try runtime.start()
    for _ in 0..<20 {
      input.button.ring()
      #expect(ticked.wait(limit: .seconds(60)))
    }
    runtime.stop()
    let counters = try #require(runtime.statistics["l"]).counters
    #expect(counters.byInput >= 20 && counters.ran == 0)
  }

  @Test("an input that has been drained releases its loop once, and not again while another loop runs on")
  func drained() throws {
    let beat = try Doorbell()
    let ticked = try Doorbell()
    let input = try Doorbell()
    let runtime = try Runtime {
      Lane("a") {
        Loop("beat", every: .hertz(500)) { Bell(ticked: beat.button, safe: beat.button) }
        Loop("l", every: .period(.seconds(3600)), phase: .seconds(3000), inputs: [.descriptor(input.descriptor)]) {
          Bell(ticked: ticked.button, safe: ticked.button, descriptorToClear: input.descriptor)
        }
      }
    }
    try runtime.start()
    input.button.ring()
    #expect(ticked.wait(limit: .seconds(60)))
    for _ in 0..<10 { #expect(beat.wait(limit: .seconds(60))) }
    runtime.stop()
    #expect(try #require(runtime.statistics["l"]).counters.byInput == 1)
  }

  @Test("an input that hangs up for ever: the loop runs once a minimum interval, and the lane stops")
  func hangUp() throws {
    /// Counts ticks that follow their predecessor too early.
    struct Spaced: ControlLoop, NoOutput {
      let ticked: DoorbellButton
      let tooEarly: UnsafeMutablePointer<Int>
      var last = TickInstant.zero

      @_noLocks @_noAllocation
      mutating func tick(_ tick: Tick) {
        if tick.started - last < .milliseconds(5) || tick.lateness < .zero { tooEarly.pointee &+= 1 }
        last = tick.started
        ticked.ring()
      }
    }
    let ticked = try Doorbell()
    let tooEarly = UnsafeMutablePointer<Int>.allocate(capacity: 1)
    defer { tooEarly.deallocate() }
    tooEarly.initialize(to: 0)
    var ends: [Int32] = [-1, -1]
    try #require(pipe(&ends) == 0)
    close(ends[1])
    defer { close(ends[0]) }
    let runtime = try Runtime {
      Lane("a") {
        Loop(
          "l", every: .period(.seconds(3600)), phase: .seconds(3000), inputs: [.descriptor(ends[0])],
          minimumInterval: .milliseconds(5)
        ) { Spaced(ticked: ticked.button, tooEarly: tooEarly) }
      }
    }
    try runtime.start()
    for _ in 0..<5 { #expect(ticked.wait(limit: .seconds(60))) }
    runtime.stop()
    #expect(tooEarly.pointee == 0)
    #expect(try #require(runtime.statistics["l"]).counters.byInput >= 5)
  }
}
