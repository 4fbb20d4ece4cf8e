public import FoundationEssentials
internal import LinnetSecurity
internal import LinnetSerialization

/// The data to resume an interrupted download: its URL, the validators of the entity, and the file and size of its
/// part.
///
/// ```swift
/// if let data = await task.cancelProducingResumeData() { try data.encoded().write(to: file) }
/// // Later, possibly in another process:
/// if let data = try ResumeData(contentsOf: file) {
///     try await api.get(data.url.absoluteString).download(to: destination, resuming: data)
/// }
/// ```
/// Store the value with `Codable` or ``encoded()``. It contains no header fields and no password, but the complete URL,
/// including a signed query. Resuming writes to the named file, so store the value with your app's private files.
public struct ResumeData: Sendable, Hashable {
    /// The version of the format. Values of other versions are rejected.
    public static let currentVersion = 1

    /// The URL of the download, without user name and password.
    public let url: URL
    /// The strong entity tag (RFC 9110, section 8.8.3) as the characters of ISO 8859-1, if the response had one.
    public let entityTag: String?
    /// The Last-Modified date, if it is a strong validator.
    public let lastModified: String?
    /// The file that contains the part.
    public let partialFile: URL
    /// The number of received bytes. Further bytes in the file are not used.
    public let receivedBytes: Int64
    /// The total number of bytes, if the server declared it.
    public let totalBytes: Int64?
    /// The SHA-256 of the part, in hexadecimal.
    public let digest: String
    /// The number of bytes that the digest covers, if it is less than ``receivedBytes``: the creator of the value
    /// vouches for the others. It is not stored.
    var digestedBytes: Int64?

    /// Removes the file with the part; a folder in its place stays. Call it when the download will not be resumed.
    public func discard() {
        SystemFile.remove(partialFile.path(percentEncoded: false))
    }

    /// The resume data for all or some of the bytes that the digest covers.
    func with(receivedBytes: Int64, digestedBytes: Int64? = nil) -> ResumeData {
        ResumeData(
            url: url, entityTag: entityTag, lastModified: lastModified, partialFile: partialFile,
            receivedBytes: receivedBytes, totalBytes: totalBytes, digest: digest, digestedBytes: digestedBytes)
    }

    var validators: ResumeValidators { ResumeValidators(entityTag: entityTag, lastModified: lastModified) }

    /// The start of the range to request. If all bytes were received, it is the last byte, because the range after it
    /// is empty.
    var offset: Int64 {
        receivedBytes == totalBytes ? receivedBytes - 1 : receivedBytes
    }

    /// A checksum of the fields, which detects a damaged value.
    var seal: String {
        let hasher = SHA256Hasher()
        let fields = [
            String(Self.currentVersion), url.absoluteString, entityTag, lastModified,
            partialFile.path(percentEncoded: false), String(receivedBytes), totalBytes.map { String($0) }, digest,
        ]
        // A length precedes each field, so that a missing field differs from every text.
        for field in fields { hasher.update(field.map { "\($0.utf8.count):\($0)" } ?? "-") }
        return hasher.hexadecimalDigest
    }

    /// The reason why the value is invalid, if it is.
    var flaw: String? {
        if receivedBytes < 1 { return "it has no received bytes" }
        if let totalBytes, totalBytes < receivedBytes { return "it has more received bytes than the total" }
        if !partialFile.isFileURL { return "its part is not in a file" }
        if validators.ifRange == nil { return "it has no validator for the version of the entity" }
        if !digest.utf8.allSatisfy({ $0.isHexadecimalDigit }) || digest.utf8.count != 64 {
            return "it has no valid digest"
        }
        return nil
    }
}

extension UInt8 {
    fileprivate var isHexadecimalDigit: Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(self)
    }
}

extension ResumeData: Codable {
    private enum CodingKeys: String, CodingKey {
        case version, url, entityTag, lastModified, partialFile, receivedBytes, totalBytes, digest, seal
    }

    /// Decodes a value.
    ///
    /// - Throws: A `SessionError` with ``SessionError/Code/invalidResumeData`` when the value has an unknown version or
    /// was modified; a `DecodingError` when it is malformed.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        let version = try values.decode(Int.self, forKey: .version)
        guard version == Self.currentVersion else {
            throw SessionError(.invalidResumeData, "Resume data of version \(version) cannot be read.")
        }
        url = try values.decode(URL.self, forKey: .url)
        entityTag = try values.decodeIfPresent(String.self, forKey: .entityTag)
        lastModified = try values.decodeIfPresent(String.self, forKey: .lastModified)
        partialFile = URL(filePath: try values.decode(String.self, forKey: .partialFile))
        receivedBytes = try values.decode(Int64.self, forKey: .receivedBytes)
        totalBytes = try values.decodeIfPresent(Int64.self, forKey: .totalBytes)
        digest = try values.decode(String.self, forKey: .digest)
        if let flaw { throw SessionError(.invalidResumeData, "The resume data cannot be used: \(flaw).") }
        guard try values.decode(String.self, forKey: .seal) == seal else {
            throw SessionError(.invalidResumeData, "The resume data was modified after it was written.")
        }
    }

    /// Encodes the value.
    public func encode(to encoder: any Encoder) throws {
        // Only the digest vouches for bytes in another process.
        if let digestedBytes { return try with(receivedBytes: digestedBytes).encode(to: encoder) }
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(Self.currentVersion, forKey: .version)
        try values.encode(url, forKey: .url)
        try values.encodeIfPresent(entityTag, forKey: .entityTag)
        try values.encodeIfPresent(lastModified, forKey: .lastModified)
        try values.encode(partialFile.path(percentEncoded: false), forKey: .partialFile)
        try values.encode(receivedBytes, forKey: .receivedBytes)
        try values.encodeIfPresent(totalBytes, forKey: .totalBytes)
        try values.encode(digest, forKey: .digest)
        try values.encode(seal, forKey: .seal)
    }
}

extension ResumeData {
    /// Decodes the bytes that ``encoded()`` returned.
    ///
    /// - Throws: A `SessionError` with ``SessionError/Code/invalidResumeData``.
    public init(decoding bytes: Data) throws(SessionError) {
        do {
            self = try JSONDecoder().decode(ResumeData.self, from: bytes)
        } catch let error as SessionError {
            throw error
        } catch {
            throw SessionError(.invalidResumeData, "The bytes are not resume data.", underlying: error)
        }
    }

    /// Reads a file with the bytes of ``encoded()``, such as ``DownloadOptions/resumeFile``; returns nil if it does not
    /// exist.
    ///
    /// - Throws: A `SessionError` with ``SessionError/Code/invalidResumeData`` when the file does not contain valid
    /// resume data, and ``SessionError/Code/fileFailed`` when it cannot be read.
    public init?(contentsOf file: URL) throws(SessionError) {
        let path = file.path(percentEncoded: false)
        let bytes: Data?
        do throws(FileFailure) {
            // Resume data is far smaller: a wrong file is not read to its end.
            bytes = try SystemFile.contents(of: path, upTo: 1024 * 1024)
        } catch {
            throw SessionError(error, url: nil)
        }
        guard let bytes else { return nil }
        try self.init(decoding: bytes)
    }

    /// Returns the value as JSON text in UTF-8.
    public func encoded() -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Encoding cannot fail, because all fields are strings and integers.
        return (try? encoder.encode(self)) ?? Data()
    }
}
