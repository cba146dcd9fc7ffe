import CBench
import Synchronization
import Tactus

/// ring BYTES COUNT ROUNDTRIPS CPU_A CPU_B: the same work as peers/spsc.cpp.
enum RingBench {
  static func run(_ arguments: Arguments) {
    let counts = (elements: arguments.int(1), trips: arguments.int(2))
    let cpus = (first: arguments.int(3), second: arguments.int(4))
    bench_pin(Int32(cpus.first))
    switch arguments.int(0) {
    case 8: report(UInt64.self, counts.elements, counts.trips, cpus.second)
    case 64: report(Words8.self, counts.elements, counts.trips, cpus.second)
    default: arguments.fail()
    }
  }

  private static func report<Element: NumberedElement>(
    _ type: Element.Type, _ count: Int, _ trips: Int, _ cpu: Int
  ) {
    let through = throughput(type, count, cpu)
    print(
      """
      {"element_ns": \(through.element), "full": \(through.full), "empty": \(through.empty), \
      "round_trip_ns": \(roundTrip(type, trips, cpu))}
      """)
  }

  @inline(never) @_specialize(where Element == UInt64) @_specialize(where Element == Words8)
  private static func throughput<Element: NumberedElement>(
    _ type: Element.Type, _ count: Int, _ cpu: Int
  ) -> (element: Double, full: Double, empty: Double) {
    let ring = Ring<Element>(capacity: 1024)
    let ready = Flag()
    let found = Tally()
    let consumer = PinnedThread(cpu: cpu) {
      var reader = ring.reader()
      var sum: UInt64 = 0
      var empty = 0
      ready.raise()
      for _ in 0..<count {
        while true {
          if let element = reader.pop() {
            sum &+= element.number
            break
          }
          empty &+= 1
        }
      }
      precondition(sum == UInt64(count) * UInt64(count - 1) / 2, "the ring lost or repeated an element")
      found.empty.store(empty, ordering: .relaxed)
    }
    var writer = ring.writer()
    ready.spin()
    var full = 0
    let start = bench_now()
    for index in 0..<count {
      let element = Element(number: UInt64(index))
      while !writer.push(element) { full &+= 1 }
    }
    consumer.join()
    let elapsed = Double(bench_now() - start)
    let empty = found.empty.load(ordering: .relaxed)
    return (elapsed / Double(count), Double(full) / Double(count), Double(empty) / Double(count))
  }

  @inline(never) @_specialize(where Element == UInt64) @_specialize(where Element == Words8)
  private static func roundTrip<Element: NumberedElement>(_ type: Element.Type, _ count: Int, _ cpu: Int) -> Double {
    let there = Ring<Element>(capacity: 1024)
    let back = Ring<Element>(capacity: 1024)
    let ready = Flag()
    let echo = PinnedThread(cpu: cpu) {
      var reader = there.reader()
      var writer = back.writer()
      ready.raise()
      for _ in 0..<count {
        while true {
          if let element = reader.pop() {
            while !writer.push(element) {}
            break
          }
        }
      }
    }
    var writer = there.writer()
    var reader = back.reader()
    ready.spin()
    let start = bench_now()
    for index in 0..<count {
      while !writer.push(Element(number: UInt64(index))) {}
      while true {
        if let element = reader.pop() {
          precondition(element.number == UInt64(index))
          break
        }
      }
    }
    let elapsed = bench_now() - start
    echo.join()
    return Double(elapsed) / Double(count)
  }
}

/// What a thread leaves behind when it ends.
private final class Tally: Sendable {
  let empty = Atomic(0)
}

/// Raised once by one thread, spun on by another.
final class Flag: Sendable {
  private let value = Atomic(false)

  func raise() { value.store(true, ordering: .releasing) }
  func spin() { while !value.load(ordering: .acquiring) {} }
  var isRaised: Bool { value.load(ordering: .relaxed) }
}
