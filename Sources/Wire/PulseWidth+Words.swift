// Not in its type's file, which is compiled as Embedded Swift, too.

extension PulseWidth: CustomStringConvertible {
  public var description: String { "\(microseconds) µs" }
}
