internal import FoundationEssentials
internal import LinnetSerialization

extension ResumeData {
    /// Returns resume data for all bytes that are in the part now, including those after ``receivedBytes``, which are
    /// not digested.
    ///
    /// A process that is killed leaves more bytes in the part than its resume file describes. They are the bytes that
    /// the server sent if nothing else has written to the file and the system has not lost power since; only the caller
    /// knows that.
    ///
    /// - Returns: The resume data; the value itself if the part has no further bytes, or cannot be read. Blocks.
    package func extendedToWholePart() -> ResumeData {
        let path = partialFile.path(percentEncoded: false)
        guard let size = try? SystemFile.size(of: path), size > receivedBytes, size <= totalBytes ?? .max else {
            return self
        }
        return with(receivedBytes: size, digestedBytes: digestedBytes ?? receivedBytes)
    }
}
