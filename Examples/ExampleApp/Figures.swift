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

    /// `1.2 ms`.
    static func milliseconds(_ duration: Duration) -> String {
        let tenths = Int64((duration / .microseconds(100)).rounded())
        return "\(tenths / 10).\(abs(tenths % 10)) ms"
    }
}
