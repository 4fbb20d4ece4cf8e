#if canImport(Glibc)
internal import Glibc
#else
internal import Musl
#endif

/// The seeds of tests with random inputs.
///
/// Each run has another one, which is printed, unless `LINNET_SEED` gives it: so a failure can be repeated.
public enum RandomSeed {
    /// The variable of the environment that gives the seed, as a decimal number.
    public static let variable = "LINNET_SEED"

    /// A seed for one test, printed with the place that asks for it.
    public static func next(file: StaticString = #fileID, line: UInt = #line) -> UInt64 {
        let given = getenv(variable).flatMap { UInt64(String(cString: $0)) }
        let seed = given ?? .random(in: 1...UInt64(UInt32.max))
        print("\(file):\(line): \(variable)=\(seed)")
        return seed
    }
}
