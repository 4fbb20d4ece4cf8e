import FoundationEssentials

/// Formats numbers and times independently of the locale.
enum Figures {
    /// `1.2 MB`, with powers of 1,000.
    static func size(_ count: Int64) -> String {
        var (value, unit) = (Double(max(0, count)), 0)
        let units = ["B", "kB", "MB", "GB", "TB"]
        while value >= 999.5, unit < units.count - 1 { (value, unit) = (value / 1000, unit + 1) }
        return (unit > 0 && value < 99.95 ? tenths(value) : "\(Int(value.rounded()))") + " " + units[unit]
    }

    /// `1.2 ms`.
    static func milliseconds(_ duration: Duration) -> String { tenths(duration / .milliseconds(1)) + " ms" }

    /// The time since a date, such as `5 min ago`.
    static func age(_ date: Date, now: Date) -> String {
        let seconds = Int(now.timeIntervalSince(date).rounded(.down))
        return switch seconds {
        case ..<5: "now"
        case ..<60: "\(seconds) s ago"
        case ..<3600: "\(seconds / 60) min ago"
        case ..<86_400: "\(seconds / 3600) h ago"
        default: "\(seconds / 86_400) d ago"
        }
    }

    private static func tenths(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(abs(tenths % 10))"
    }
}
