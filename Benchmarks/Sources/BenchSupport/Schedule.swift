import Glibc

/// The instants at which requests are due, in seconds after a beginning: a Poisson process, as of many users who know
/// nothing of each other. The seed is fixed, so that each client meets the same instants; bench-libcurl has the same
/// generator.
struct Schedule: Sendable {
    let instants: [Double]

    init(rate: Double, seconds: Double) {
        var state: UInt64 = 1
        var instant = 0.0
        instants = (0..<Int(rate * seconds)).map { _ in
            instant += -log(1 - Self.uniform(&state)) / rate
            return instant
        }
    }

    /// A number in 0..<1 of the generator SplitMix64.
    private static func uniform(_ state: inout UInt64) -> Double {
        state &+= 0x9E37_79B9_7F4A_7C15
        var bits = state
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        bits ^= bits >> 31
        return Double(bits >> 11) * 0x1p-53
    }
}
