internal import FoundationEssentials

/// Identifies the time from one start of the system to the next.
enum BootID {
    /// The present one; nil if the system does not tell.
    static let current: String? = (try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8))
        .map { String($0.prefix { !$0.isWhitespace }) }
}
