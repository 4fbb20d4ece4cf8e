#if canImport(Glibc)
internal import Glibc
#else
internal import Musl
#endif

/// The seeds of tests with random input.
///
/// Each run prints a new seed, unless `LINNET_SEED` sets it, so that a failure can be reproduced.
public enum RandomSeed {
    /// The environment variable that sets the seed, as a decimal number.
    public static let variable = "LINNET_SEED"

    /// Returns a seed for one test, and prints it with the location of the call.
    public static func next(file: StaticString = #fileID, line: UInt = #line) -> UInt64 {
        let given = getenv(variable).flatMap { UInt64(String(cString: $0)) }
        let seed = given ?? .random(in: 1...UInt64(UInt32.max))
        print("\(file):\(line): \(variable)=\(seed)")
        return seed
    }
}
