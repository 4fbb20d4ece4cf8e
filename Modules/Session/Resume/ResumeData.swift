public import FoundationEssentials
internal import LinnetSecurity

/// What is needed to go on with a download that broke off: where it came from, which version of it, and how much of it lies
/// in which file.
///
/// ```swift
/// let saved = await task.cancelProducingResumeData()
/// // later, in another process too
/// let task = session.downloadTask(resuming: saved, to: destination)
/// ```
/// It is a value that can be stored, with `Codable` or ``encoded()``. It holds no header fields and no password, but the
/// whole URL, signed queries included. Who has it can make a download go on in the file that it names: keep it where your
/// app's own files are.
public struct ResumeData: Sendable, Hashable {
    /// The version of the format that is written; others are refused.
    public static let currentVersion = 1

    /// Where the bytes came from, without user name and password.
    public let url: URL
    /// The strong entity tag of the version that was begun (RFC 9110, section 8.8.3), if there was one.
    public let entityTag: String?
    /// The Last-Modified of that version, if there was one.
    public let lastModified: String?
    /// The file with the part that is there.
    public let partialFile: URL
    /// How many bytes are there. The file may have more behind them, which are not used.
    public let receivedBytes: Int64
    /// How many bytes there will be in all, if the server said so.
    public let totalBytes: Int64?
    /// The SHA-256 of the part, in hexadecimal.
    public let digest: String

    /// Removes the part, for when nobody will go on with it.
    public func discard() {
        try? FileManager.default.removeItem(at: partialFile)
    }

    var validators: ResumeValidators { ResumeValidators(entityTag: entityTag, lastModified: lastModified) }

    /// From where the next bytes are asked for: the last byte again when all are there, since there is no range behind it.
    var offset: Int64 {
        receivedBytes == totalBytes ? receivedBytes - 1 : receivedBytes
    }

    /// Tells whether the fields belong together, so that a damaged value is not used.
    var seal: String {
        let hasher = SHA256Hasher()
        let fields = [
            String(Self.currentVersion), url.absoluteString, entityTag ?? "-", lastModified ?? "-",
            partialFile.path(percentEncoded: false), String(receivedBytes), totalBytes.map { String($0) } ?? "-",
            digest,
        ]
        for field in fields { hasher.update("\(field.utf8.count):\(field)") }
        return hasher.hexadecimalDigest
    }

    /// What no honest value has.
    var flaw: String? {
        if receivedBytes < 1 { return "it has no bytes" }
        if let totalBytes, totalBytes < receivedBytes { return "it has more bytes than there are" }
        if !partialFile.isFileURL { return "its part is not in a file" }
        if validators.ifRange == nil { return "it does not say which version was begun" }
        if !digest.utf8.allSatisfy({ $0.isHexadecimalDigit }) || digest.utf8.count != 64 { return "it has no digest" }
        return nil
    }
}

extension UInt8 {
    fileprivate var isHexadecimalDigit: Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(self)
    }
}
