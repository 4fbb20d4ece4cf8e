public import FoundationEssentials
internal import LinnetSecurity

/// The data to resume an interrupted download: its URL, the version of the entity, and the file and size of its part.
///
/// ```swift
/// let saved = await task.cancelProducingResumeData()
/// // later, in another process too
/// let task = session.call(Request(url: saved.url)).downloadTask(to: destination, resuming: saved)
/// ```
/// It is a value that can be stored, with `Codable` or ``encoded()``. It holds no header fields and no password, but the whole
/// URL, signed queries included. It can be used to write to the file that it names, so store it with your app's private files.
public struct ResumeData: Sendable, Hashable {
    /// The version of the format. Other versions are refused.
    public static let currentVersion = 1

    /// The URL of the download, without user name and password.
    public let url: URL
    /// The strong entity tag of the version (RFC 9110, section 8.8.3), if there was one.
    public let entityTag: String?
    /// The Last-Modified of that version, if there was one.
    public let lastModified: String?
    /// The file with the part.
    public let partialFile: URL
    /// The number of bytes received. Further bytes in the file are not used.
    public let receivedBytes: Int64
    /// The total number of bytes, if the server declared it.
    public let totalBytes: Int64?
    /// The SHA-256 of the part, in hexadecimal.
    public let digest: String

    /// Removes the part, when the download will not be resumed.
    public func discard() {
        try? FileManager.default.removeItem(at: partialFile)
    }

    var validators: ResumeValidators { ResumeValidators(entityTag: entityTag, lastModified: lastModified) }

    /// The start of the range to request: the last byte when all were received, since there is no range after it.
    var offset: Int64 {
        receivedBytes == totalBytes ? receivedBytes - 1 : receivedBytes
    }

    /// A checksum of the fields, which detects a damaged value.
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

    /// The reason that the value is invalid, if it is.
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
