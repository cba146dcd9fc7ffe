import Tactus
import TactusControl
import Testing

@Suite("Vectors and quaternions")
struct GeometryTests {
  static func vector(_ random: inout SplitMix64) -> Vector3 {
    Vector3(random.between(-2, 2), random.between(-2, 2), random.between(-2, 2))
  }

  static func rotation(_ random: inout SplitMix64) throws -> Quaternion {
    try #require(Quaternion(axis: vector(&random), angle: random.between(-3, 3)))
  }

  @Test("vectors: cross is at right angles to both, dot and length agree, normalized has length 1", arguments: seeds)
  func vectors(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    for _ in 0..<200 {
      let (a, b) = (Self.vector(&random), Self.vector(&random))
      let cross = a.cross(b)
      #expect(cross.dot(a).magnitude < 1e-12 && cross.dot(b).magnitude < 1e-12, "seed \(seed)")
      // Lagrange's identity.
      let area = a.dot(a) * b.dot(b) - a.dot(b) * a.dot(b)
      #expect((cross.length * cross.length - area).magnitude < 1e-11, "seed \(seed)")
      #expect((try #require(a.normalized).length - 1).magnitude < 1e-15, "seed \(seed)")
      let plane = Vector2(a.x, a.y)
      let angle = random.between(-7, 7)
      #expect((plane.rotated(by: angle).length - plane.length).magnitude < 1e-14, "seed \(seed)")
      #expect((plane.cross(plane.rotated(by: angle)) - plane.dot(plane) * Math.sin(angle)).magnitude < 1e-13)
      #expect((plane.dot(plane.rotated(by: angle)) - plane.dot(plane) * Math.cos(angle)).magnitude < 1e-13)
      let four = Vector4(a.x, a.y, b.x, b.y)
      #expect((four.length * four.length - four.dot(four)).magnitude < 1e-13)
      #expect((try #require(four.normalized).length - 1).magnitude < 1e-15)
      #expect((try #require(plane.normalized).length - 1).magnitude < 1e-15)
    }
    #expect(Vector3(1, 0, 0).cross(Vector3(0, 1, 0)) == Vector3(0, 0, 1))
    #expect(Vector2(1, 0).cross(Vector2(0, 1)) == 1)
    #expect((Vector3(3e200, 4e200, 0).length / 5e200 - 1).magnitude < 1e-15)
    #expect(
      Vector3.zero.normalized == nil && Vector2(.nan, 1).normalized == nil
        && Vector4(.infinity, 0, 0, 0).normalized == nil)
  }

  @Test("product: rotates by the right one first; inverse leads back; lengths and angles stay", arguments: seeds)
  func product(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    for _ in 0..<200 {
      let (a, b, v, w) = (
        try Self.rotation(&random), try Self.rotation(&random), Self.vector(&random), Self.vector(&random)
      )
      #expect(((a * b).rotate(v) - a.rotate(b.rotate(v))).length < 1e-13, "seed \(seed)")
      #expect((a.inverse.rotate(a.rotate(v)) - v).length < 1e-13, "seed \(seed)")
      #expect((a.rotate(v).dot(a.rotate(w)) - v.dot(w)).magnitude < 1e-12, "seed \(seed)")
      #expect((a.rotate(v.cross(w)) - a.rotate(v).cross(a.rotate(w))).length < 1e-12, "seed \(seed)")
      #expect((a * a.inverse).angle(to: .identity) < 1e-14)
    }
  }

  @Test("axis and angle: Rodrigues' formula, right-handed", arguments: seeds)
  func axisAngle(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    for _ in 0..<200 {
      let (axis, angle, v) = (Self.vector(&random), random.between(-7, 7), Self.vector(&random))
      let rotation = try #require(Quaternion(axis: axis, angle: angle))
      let k = try #require(axis.normalized)
      let part = k * k.dot(v) * (1 - Math.cos(angle))
      let wanted = v * Math.cos(angle) + k.cross(v) * Math.sin(angle) + part
      #expect((rotation.rotate(v) - wanted).length < 1e-13, "seed \(seed)")
      #expect((rotation.angle(to: .identity) - Math.wrapped(angle).magnitude).magnitude < 1e-13, "seed \(seed)")
      let small = random.between(0, 2e-4)
      let vector = try #require(Quaternion(rotation: k * small))
      #expect(vector.angle(to: try #require(Quaternion(axis: k, angle: small))) < 1e-15, "seed \(seed): \(small)")
    }
    let quarter = try #require(Quaternion(axis: Vector3(0, 0, 9), angle: .pi / 2))
    #expect((quarter.rotate(Vector3(1, 0, 0)) - Vector3(0, 1, 0)).length < 1e-15)
  }

  @Test(
    "roll, pitch, yaw: there and back, each about its axis; at a pitch of ±π/2 yaw takes over the roll",
    arguments: seeds)
  func euler(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    for _ in 0..<200 {
      let (roll, pitch, yaw) = (random.between(-3.1, 3.1), random.between(-1.5, 1.5), random.between(-3.1, 3.1))
      let rotation = try #require(Quaternion(roll: roll, pitch: pitch, yaw: yaw))
      let (x, y, z) = (
        try #require(Quaternion(axis: Vector3(1, 0, 0), angle: roll)),
        try #require(Quaternion(axis: Vector3(0, 1, 0), angle: pitch)),
        try #require(Quaternion(axis: Vector3(0, 0, 1), angle: yaw))
      )
      #expect((z * y * x).angle(to: rotation) < 1e-14, "seed \(seed)")
      let angles = rotation.angles
      #expect((angles.roll - roll).magnitude < 1e-12 && (angles.pitch - pitch).magnitude < 1e-12, "seed \(seed)")
      #expect((angles.yaw - yaw).magnitude < 1e-12, "seed \(seed)")
      for pole in [-Double.pi / 2, .pi / 2] {
        let up = try #require(Quaternion(roll: roll, pitch: pole, yaw: yaw))
        let (r, p, y) = up.angles
        #expect(r == 0 && p == pole && y.magnitude <= .pi)
        #expect(up.angle(to: try #require(Quaternion(roll: r, pitch: p, yaw: y))) < 3e-6, "seed \(seed)")
      }
    }
  }

  @Test("interpolated: the ends, the shortest way, at constant speed", arguments: seeds)
  func interpolated(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    for _ in 0..<200 {
      let (a, b) = (try Self.rotation(&random), try Self.rotation(&random))
      let angle = a.angle(to: b)
      #expect(a.interpolated(to: b, share: 0).angle(to: a) < 1e-7)
      #expect(a.interpolated(to: b, share: 1).angle(to: b) < 1e-7)
      let share = random.between(0, 1)
      let between = a.interpolated(to: b, share: share)
      #expect((between.angle(to: a) - share * angle).magnitude < 1e-12, "seed \(seed)")
      #expect((between.angle(to: b) - (1 - share) * angle).magnitude < 1e-12, "seed \(seed)")
      #expect(a.interpolated(to: b, share: .nan) == a)
    }
  }

  @Test(
    "step: a constant rate for a time is its rotation vector, in any number of steps; the length stays 1",
    arguments: seeds)
  func integrated(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    for _ in 0..<20 {
      let start = try Self.rotation(&random)
      let rate = Self.vector(&random)
      var rotation = start
      for _ in 0..<1_000 { rotation.step(rate: rate, for: .milliseconds(1)) }
      #expect(rotation.angle(to: start * (try #require(Quaternion(rotation: rate)))) < 1e-12, "seed \(seed)")
      #expect((Vector4(rotation.w, rotation.x, rotation.y, rotation.z).length - 1).magnitude < 1e-15, "seed \(seed)")
      let before = rotation
      rotation.step(rate: Vector3(0, .nan, 0), for: .milliseconds(1))
      rotation.step(rate: Vector3(.infinity, 0, 0), for: .milliseconds(1))
      #expect(rotation == before)
    }
  }

  @Test("what is not finite, or of length 0, is no rotation")
  func refused() {
    #expect(Quaternion(w: 0, x: 0, y: 0, z: 0) == nil && Quaternion(w: .nan, x: 0, y: 0, z: 1) == nil)
    #expect(Quaternion(axis: .zero, angle: 1) == nil && Quaternion(axis: Vector3(0, 0, 1), angle: .nan) == nil)
    #expect(Quaternion(roll: .infinity, pitch: 0, yaw: 0) == nil && Quaternion(rotation: Vector3(.nan, 0, 0)) == nil)
    #expect(Quaternion(w: 0, x: 0, y: 0, z: -2) == Quaternion(w: 0, x: 0, y: 0, z: -1))
    #expect(Quaternion(rotation: .zero) == .identity)
  }
}
