/// Numbers of bytes, with decimal prefixes.
package enum ByteCount {
    private static let units: [(name: String, size: Double)] = [("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)]

    package static func text(_ bytes: Int64) -> String {
        guard let unit = units.first(where: { Double(bytes) >= $0.size }) else { return "\(bytes) B" }
        let tenths = Int((Double(bytes) / unit.size * 10).rounded(.down))
        return "\(tenths / 10).\(tenths % 10) \(unit.name)B"
    }

    /// Parses `1500`, `2M` or `0.5g`; nil if it is not a positive number of bytes.
    package static func parse(_ text: String) -> Int64? {
        var digits = text.lowercased()
        if digits.hasSuffix("b") { digits.removeLast() }
        var factor = 1.0
        if let unit = units.first(where: { digits.hasSuffix($0.name.lowercased()) }) {
            factor = unit.size
            digits.removeLast()
        }
        guard let number = Double(digits), number.isFinite, number * factor >= 1, number * factor < 1e15 else {
            return nil
        }
        return Int64(number * factor)
    }
}
