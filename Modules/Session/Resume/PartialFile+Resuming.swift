internal import FoundationEssentials
internal import LinnetSerialization

extension PartialFile {
    /// Opens the part of resume data, checks that it is unchanged, and truncates it to the offset to resume from.
    ///
    /// - Parameter digestsAll: Whether the returned digest must cover all bytes, also those that the resume data does
    ///   not digest.
    /// - Returns: The file, and the digest of its bytes.
    /// - Throws: A `SessionError` with ``SessionError/Code/invalidResumeData``; the file is then left unchanged.
    static func reopen(
        _ resume: ResumeData, finalPath: String, digestsAll: Bool = true
    ) throws(SessionError) -> (file: PartialFile, digest: PartDigest) {
        let path = resume.partialFile.path(percentEncoded: false)
        do throws(FileFailure) {
            let descriptor = try SystemFile.openPart(path, size: resume.receivedBytes)
            do throws(FileFailure) {
                let digested = resume.digestedBytes ?? resume.receivedBytes
                let digest = PartDigest()
                try digest.add(descriptor, path, upTo: min(digested, resume.offset))
                // The digest covers the byte at the offset too, if the download continues with the last byte.
                guard try digest.hexadecimal(descriptor, path, upTo: digested) == resume.digest else {
                    throw SystemFile.failure(
                        path, "has changed since the download was interrupted", SystemFile.notWhatItWas)
                }
                // After the check, since a file that is not the part must stay as it is. Bytes after the offset were
                // never counted.
                try SystemFile.truncate(descriptor, path, to: resume.offset)
                if digestsAll { try digest.add(descriptor, path, upTo: resume.offset) }
                let file = PartialFile(
                    path: path, finalPath: finalPath, descriptor: descriptor, size: resume.offset)
                return (file, digest)
            } catch {
                SystemFile.close(descriptor)
                throw error
            }
        } catch {
            throw .invalidPart(error, resume)
        }
    }
}

extension SessionError {
    static func invalidPart(_ failure: FileFailure, _ resume: ResumeData) -> SessionError {
        var error = SessionError(
            .invalidResumeData, "The download cannot be resumed: \(failure)", underlying: failure, url: resume.url)
        error.fileFailure = failure
        return error
    }
}
