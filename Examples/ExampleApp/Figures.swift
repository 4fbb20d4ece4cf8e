/// Formats numbers independently of the locale.
enum Figures {
    /// `12,345 bytes`.
    static func bytes(_ count: Int64) -> String {
        let digits = Array(String(count))
        let groups = digits.indices.reversed().map { index in
            let isGroupStart = index > 0 && (digits.count - index).isMultiple(of: 3)
            return (isGroupStart ? "," : "") + String(digits[index])
        }
        return groups.reversed().joined() + (count == 1 ? " byte" : " bytes")
    }

    /// `1.2 MB`, with powers of 1,000.
    static func size(_ count: Int64) -> String {
        var (value, unit) = (Double(max(0, count)), 0)
        let units = ["B", "kB", "MB", "GB", "TB"]
        while value >= 999.5, unit < units.count - 1 { (value, unit) = (value / 1000, unit + 1) }
        guard unit > 0, value < 99.95 else { return "\(Int(value.rounded())) \(units[unit])" }
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(tenths % 10) \(units[unit])"
    }

    /// `1.2 ms`.
    static func milliseconds(_ duration: Duration) -> String {
        let tenths = Int64((duration / .microseconds(100)).rounded())
        return "\(tenths / 10).\(abs(tenths % 10)) ms"
    }
}
