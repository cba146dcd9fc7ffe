/// One of a chip's axes, as a data sheet draws it, or the opposite direction.
public enum ChipAxis: String, Sendable, CaseIterable, BitwiseCopyable {
  /// The direction of the x axis.
  case x
  /// The direction of the y axis.
  case y
  /// The direction of the z axis.
  case z
  /// The direction opposite to the x axis.
  case minusX = "-x"
  /// The direction opposite to the y axis.
  case minusY = "-y"
  /// The direction opposite to the z axis.
  case minusZ = "-z"

  /// The direction as a vector of length 1 in the chip's axes.
  public var direction: SIMD3<Double> {
    switch self {
    case .x: [1, 0, 0]
    case .y: [0, 1, 0]
    case .z: [0, 0, 1]
    case .minusX: [-1, 0, 0]
    case .minusY: [0, -1, 0]
    case .minusZ: [0, 0, -1]
    }
  }
}

/// The orientation of a chip in a body whose axes are x forward, y to the left and z up.
public struct Mounting: Sendable, Hashable, BitwiseCopyable {
  // The body's axes, expressed in the axes of the chip.
  private let forward, left, up: SIMD3<Double>

  /// The mounting of a chip whose axes are those of the body.
  public static let upright = Mounting(forward: .x, up: .z)!

  /// Creates the mounting from the axes of the chip that point forward and up in the body. The result is `nil` if the two lie on one
  /// line.
  public init?(forward: ChipAxis, up: ChipAxis) {
    let (f, u) = (forward.direction, up.direction)
    guard f != u, f != -u else { return nil }
    self.forward = f
    self.up = u
    left = [u.y * f.z - u.z * f.y, u.z * f.x - u.x * f.z, u.x * f.y - u.y * f.x]
  }

  /// Converts a vector from the chip's axes to the body's.
  @_noLocks @_noAllocation
  public func body(_ chip: SIMD3<Double>) -> SIMD3<Double> {
    SIMD3((forward * chip).sum(), (left * chip).sum(), (up * chip).sum())
  }

  /// Converts a vector from the body's axes to the chip's.
  @_noLocks @_noAllocation
  public func chip(_ body: SIMD3<Double>) -> SIMD3<Double> { forward * body.x + left * body.y + up * body.z }
}
