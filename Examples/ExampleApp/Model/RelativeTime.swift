import FoundationEssentials

/// Times relative to now, such as `5 min ago`.
enum RelativeTime {
    static func text(_ time: Date, now: Date) -> String {
        let seconds = Int(now.timeIntervalSince(time).rounded(.down))
        return switch seconds {
        case ..<5: "now"
        case ..<60: "\(seconds) s ago"
        case ..<3600: "\(seconds / 60) min ago"
        case ..<86_400: "\(seconds / 3600) h ago"
        default: "\(seconds / 86_400) d ago"
        }
    }
}
