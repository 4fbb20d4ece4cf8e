public import FoundationEssentials
internal import LinnetSerialization

extension ResumeData: Codable {
    private enum CodingKeys: String, CodingKey {
        case version, url, entityTag, lastModified, partialFile, receivedBytes, totalBytes, digest, seal
    }

    /// Decodes a value.
    ///
    /// - Throws: A `SessionError` with ``SessionError/Code/invalidResumeData`` when the value has an unknown version or was
    /// modified; a `DecodingError` when it is malformed.
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

    /// Reads the file at ``DownloadOptions/resumeFile``; returns nil if it does not exist.
    ///
    /// - Throws: A `SessionError` with ``SessionError/Code/invalidResumeData`` when the file does not contain valid resume
    /// data, and ``SessionError/Code/fileFailed`` when it cannot be read.
    public init?(contentsOf file: URL) throws(SessionError) {
        let path = file.path(percentEncoded: false)
        let bytes: Data?
        do throws(FileFailure) {
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
