import CBench
import Synchronization
import Tactus

/// latest BYTES COUNT CPU_A CPU_B: the same work as peers/latest.cpp.
enum LatestBench {
  static func run(_ arguments: Arguments) {
    let count = arguments.int(1)
    let cpus = (first: arguments.int(2), second: arguments.int(3))
    bench_pin(Int32(cpus.first))
    switch arguments.int(0) {
    case 8: report(UInt64.self, count, cpus.second)
    case 64: report(Words8.self, count, cpus.second)
    default: arguments.fail()
    }
  }

  private static func report<Element: NumberedElement>(_ type: Element.Type, _ count: Int, _ cpu: Int) {
    let alone = alone(type, count)
    let write = shared(type, count, pause: 0, cpu).write
    let read = shared(type, count / 50, pause: 1_000, cpu).read
    print(
      "{\"write_alone_ns\": \(alone.write), \"read_alone_ns\": \(alone.read), "
        + "\"write_shared_ns\": \(write), \"read_shared_ns\": \(read)}")
  }

  @inline(never) @_specialize(where Element == UInt64) @_specialize(where Element == Words8)
  private static func alone<Element: NumberedElement>(_ type: Element.Type, _ count: Int) -> (
    write: Double, read: Double
  ) {
    let latest = Latest(Element(number: 0))
    var writer = latest.writer()
    var reader = latest.reader()
    var start = bench_now()
    for index in 0..<count {
      writer.write(Element(number: UInt64(index)))
      bench_use(0)
    }
    let write = bench_now() - start
    start = bench_now()
    for _ in 0..<count { bench_use(reader.read().number) }
    let read = bench_now() - start
    return (Double(write) / Double(count), Double(read) / Double(count))
  }

  @inline(never) @_specialize(where Element == UInt64) @_specialize(where Element == Words8)
  private static func shared<Element: NumberedElement>(
    _ type: Element.Type, _ count: Int, pause: Int64, _ cpu: Int
  ) -> (write: Double, read: Double) {
    let latest = Latest(Element(number: 0))
    let ready = Flag()
    let done = Flag()
    let perRead = Atomic<UInt64>(0)
    return withUnsafePointer(to: perRead) { perRead in
      nonisolated(unsafe) let perRead = perRead
      let thread = PinnedThread(cpu: cpu) {
        var reader = latest.reader()
        var reads = 0
        ready.raise()
        let begin = bench_now()
        while !done.isRaised {
          precondition(reader.read().isWhole, "a reader saw half a value")
          reads += 1
        }
        perRead.pointee.store((Double(bench_now() - begin) / Double(reads)).bitPattern, ordering: .relaxed)
      }
      var writer = latest.writer()
      ready.spin()
      let start = bench_now()
      var next = start
      for index in 0..<count {
        writer.write(Element(number: UInt64(index)))
        if pause > 0 {
          next += pause
          while bench_now() < next {}
        }
      }
      let write = Double(bench_now() - start) / Double(count)
      done.raise()
      thread.join()
      return (write, Double(bitPattern: perRead.pointee.load(ordering: .relaxed)))
    }
  }
}
