import CBench

/// A thread on one processor, for the mailbox rows.
struct PinnedThread {
  private let handle: UInt64

  init(cpu: Int, _ body: @escaping @Sendable () -> Void) {
    let context = Unmanaged.passRetained(Body(body)).toOpaque()
    handle = bench_thread(Int32(cpu), { Unmanaged<Body>.fromOpaque($0!).takeRetainedValue().body() }, context)
  }

  func join() { bench_join(handle) }

  private final class Body: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
}

/// Eight words, so that an element is one cache line.
struct Words8: BitwiseCopyable, Sendable {
  var first: UInt64 = 0
  var words: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0, 0)
  var last: UInt64 = 0
}

/// What the mailbox rows need of an element.
protocol NumberedElement: BitwiseCopyable, Sendable {
  init(number: UInt64)
  var number: UInt64 { get }
  /// Whether both ends of the element are of the same write.
  var isWhole: Bool { get }
}

extension UInt64: NumberedElement {
  init(number: UInt64) { self = number }
  var number: UInt64 { self }
  var isWhole: Bool { true }
}

extension Words8: NumberedElement {
  @inline(__always) init(number: UInt64) {
    first = number
    words = (number, number, number, number, number, number)
    last = number
  }
  var number: UInt64 { first }
  var isWhole: Bool { first == last }
}
