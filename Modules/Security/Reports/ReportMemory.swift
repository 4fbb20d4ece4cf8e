internal import COpenSSL
internal import FoundationEssentials

/// Which reports were told within a day, by the digest of all but their date.
struct ReportMemory {
    static let capacity = 1000
    private static let day = 86_400.0

    private var told: [Data: Date] = [:]

    /// What reports are told apart by; nil when a report cannot be written, and is told then.
    static func key(_ report: TrustReport) -> Data? {
        var undated = report
        undated.date = Date(timeIntervalSince1970: 0)
        guard let json = try? undated.json() else { return nil }
        var digest = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
        json.withUnsafeBytes { bytes in
            _ = SHA256(bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count, &digest)
        }
        return Data(digest)
    }

    /// Whether it may be told; it then counts as told.
    mutating func admit(_ key: Data, at date: Date) -> Bool {
        // A clock that was set back must not keep a reporter silent.
        if let last = told[key], date >= last, date.timeIntervalSince(last) < Self.day { return false }
        if told.count >= Self.capacity, told[key] == nil { makeRoom(at: date) }
        told[key] = date
        return true
    }

    private mutating func makeRoom(at date: Date) {
        told = told.filter { date.timeIntervalSince($0.value) < Self.day }
        guard told.count >= Self.capacity, let oldest = told.min(by: { $0.value < $1.value })?.key else { return }
        told[oldest] = nil
    }
}
