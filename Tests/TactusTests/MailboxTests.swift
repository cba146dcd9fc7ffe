import Dispatch
import TestSupport
import Testing

@testable import Tactus

@Suite("Ring", .ownThread)
struct RingTests {
  @Test("full: refuses and loses nothing; empty: gives nothing; order is kept across the wrap")
  func bounds() {
    let ring = Ring<Int>(capacity: 3)
    #expect(ring.capacity == 4)
    var writer = ring.writer()
    var reader = ring.reader()
    let nothing = reader.pop()
    #expect(nothing == nil)
    for round in 0..<10 {
      for number in 0..<4 {
        let taken = writer.push(round * 4 + number)
        #expect(taken)
      }
      let taken = writer.push(-1)
      #expect(!taken)
      for number in 0..<5 {
        let element = reader.pop()
        #expect(element == (number < 4 ? round * 4 + number : nil))
      }
    }
  }

  @Test("full: one element taken makes room for one")
  func oneFree() {
    let ring = Ring<Int>(capacity: 4)
    var writer = ring.writer()
    var reader = ring.reader()
    for number in 0..<4 { _ = writer.push(number) }
    let oldest = reader.pop()
    let fits = writer.push(4)
    let fitsNot = writer.push(5)
    #expect(oldest == 0 && fits && !fitsNot)
  }

  @Test("two threads: a million elements arrive once each and in order")
  func threads() {
    let ring = Ring<UInt64>(capacity: 64)
    let total: UInt64 = 1_000_000
    let finished = DispatchSemaphore(value: 0)
    DispatchQueue(label: "writer").async {
      var writer = ring.writer()
      var next: UInt64 = 0
      while next < total { if writer.push(next) { next += 1 } }
      finished.signal()
    }
    var reader = ring.reader()
    var expected: UInt64 = 0
    while expected < total {
      guard let element = reader.pop() else { continue }
      if element != expected { break }
      expected += 1
    }
    #expect(expected == total)
    finished.wait()
  }
}

@Suite("Latest value", .ownThread)
struct LatestTests {
  struct Odd: BitwiseCopyable, Equatable {
    var a: UInt64 = 1
    var b: UInt32 = 2
    var c: UInt8 = 3
    var d: UInt16 = 4
  }

  @Test("a value whose size is no multiple of a word comes back whole")
  func odd() {
    let latest = Latest(Odd())
    var writer = latest.writer()
    var reader = latest.reader()
    let first = reader.read()
    #expect(first == Odd())
    for number in 0..<1000 {
      let value = Odd(a: UInt64(number), b: UInt32(number), c: UInt8(number & 255), d: UInt16(number))
      writer.write(value)
      let read = reader.read()
      #expect(read == value)
    }
    let version = reader.version
    #expect(version == 1000)
  }

  @Test("two threads: no value is ever torn, none is older than one read before")
  func threads() {
    struct Eight: BitwiseCopyable { var words: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) }
    let latest = Latest(Eight(words: (0, 0, 0, 0, 0, 0, 0, 0)))
    let total: UInt64 = 300_000
    let finished = DispatchSemaphore(value: 0)
    DispatchQueue(label: "writer").async {
      var writer = latest.writer()
      for n in 1...total { writer.write(Eight(words: (n, n, n, n, n, n, n, n))) }
      finished.signal()
    }
    var reader = latest.reader()
    var last: UInt64 = 0
    var torn = 0
    var older = 0
    while last < total {
      let w = reader.read().words
      if w.0 != w.1 || w.0 != w.2 || w.0 != w.3 || w.0 != w.4 || w.0 != w.5 || w.0 != w.6 || w.0 != w.7 { torn += 1 }
      if w.0 < last { older += 1 }
      last = w.0
    }
    #expect(torn == 0)
    #expect(older == 0)
    finished.wait()
  }
}

@Suite("Histogram", .ownThread)
struct HistogramTests {
  @Test("every value falls into the bucket whose bounds hold it")
  func bounds() {
    var random = SplitMix64(seed: 3)
    for exponent in 0..<38 {
      for _ in 0..<50 {
        let value = Int64.random(in: (1 << Int64(exponent))..<(2 << Int64(exponent)), using: &random)
        #expect(HistogramSnapshot.bounds(ofBucket: histogramBucket(value)).contains(value))
      }
    }
    #expect(histogramBucket(-5) == 0 && histogramBucket(0) == 0)
    #expect(histogramBucket(.max) == Histogram.bucketCount - 1)
  }

  @Test("percentiles are within 6.25 % of the exact ones, the maximum is exact")
  func percentiles() throws {
    let histogram = Histogram()
    var random = SplitMix64(seed: 4)
    var values: [Int64] = []
    for _ in 0..<10_000 {
      let value = Int64(Double.random(in: 1...5000, using: &random) * Double.random(in: 1...100, using: &random))
      values.append(value)
      histogram.record(value)
    }
    values.sort()
    let snapshot = histogram.snapshot(values.first!, values.last!)
    for fraction in [0.5, 0.9, 0.99, 0.999] {
      let exact = Double(values[Int((fraction * 10_000).rounded(.up)) - 1])
      let found = Double(try #require(snapshot.percentile(fraction)).count)
      #expect(abs(found - exact) <= exact * 0.0625 + 1)
    }
    #expect(snapshot.percentile(1)?.count == values.last)
    #expect(snapshot.count == 10_000)
  }

  @Test("an empty histogram has no percentile")
  func empty() {
    let snapshot = Histogram().snapshot(.max, .min)
    #expect(snapshot.percentile(0.5) == nil)
  }
}

@Suite("Mailboxes of an operator", .ownThread)
struct OperatorMailboxTests {
  @Test("the newest controls and the newest snapshot; requests in order, refused when full; the bell is rung")
  func mailboxes() throws {
    let bell = try Doorbell()
    let mailbox = OperatorMailbox<Int, Int, Int>(1, 2, capacity: 2, bell: bell.button)
    var controls = mailbox.controls.reader()
    var requests = mailbox.requests.reader()
    var snapshots = mailbox.snapshots.writer()
    let first = [controls.read(), mailbox.newest]
    #expect(first == [1, 2])
    mailbox.set(3)
    snapshots.write(4)
    let second = [controls.read(), mailbox.newest]
    #expect(second == [3, 4])
    let taken = [5, 6, 7].map { mailbox.ask($0) }
    #expect(taken == [true, true, false])
    bell.wait()
    let asked = [requests.pop(), requests.pop(), requests.pop()]
    #expect(asked == [5, 6, nil])
  }
}
