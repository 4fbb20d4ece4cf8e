internal import FoundationEssentials
internal import LinnetSecurity
internal import LinnetSerialization

extension PartialFile {
    /// Opens the part of resume data, checks that it is unchanged, and truncates it to the offset to resume from.
    ///
    /// - Returns: The file, and a hasher that has consumed its bytes.
    /// - Throws: A `SessionError` with ``SessionError/Code/invalidResumeData``; the file is then left unchanged.
    static func reopen(
        _ resume: ResumeData, finalPath: String
    ) throws(SessionError) -> (file: PartialFile, hasher: SHA256Hasher) {
        let path = resume.partialFile.path(percentEncoded: false)
        do throws(FileFailure) {
            let descriptor = try SystemFile.openPart(path, size: resume.receivedBytes)
            do throws(FileFailure) {
                let hasher = SHA256Hasher()
                try SystemFile.hash(descriptor, path, 0..<resume.offset, into: hasher)
                // The digest covers all received bytes, but the download continues from the offset, so the states
                // differ.
                let whole = hasher.copy()
                try SystemFile.hash(descriptor, path, resume.offset..<resume.receivedBytes, into: whole)
                guard whole.hexadecimalDigest == resume.digest else {
                    throw SystemFile.failure(
                        path, "has changed since the download was interrupted", SystemFile.notWhatItWas)
                }
                // After the check, since a file that is not the part must stay as it is. Bytes after the offset were
                // never counted.
                try SystemFile.truncate(descriptor, path, to: resume.offset)
                let file = PartialFile(
                    path: path, finalPath: finalPath, descriptor: descriptor, size: resume.offset)
                return (file, hasher)
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
