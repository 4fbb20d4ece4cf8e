internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetSerialization
internal import LinnetTransport

/// Chooses the destination of a complete download, given its temporary file and its response.
typealias DestinationChoice = @Sendable (_ temporaryFile: URL, _ response: HTTPResponse) throws -> URL

/// The destination of a download.
enum DownloadTarget: Sendable {
    case file(DownloadDestination)
    /// A folder's path; the response suggests the file's name.
    case folder(String)
    case chosen(DestinationChoice)
}

/// The parameters of a download besides its request.
struct DownloadPlan: Sendable {
    let target: DownloadTarget
    let options: DownloadOptions
    /// The data of the download to resume, if there is one.
    var resume: ResumeData?
    /// The state shared with the download's handle, if there is one.
    var link: DownloadLink?

    init(_ target: DownloadTarget, _ options: DownloadOptions, resume: ResumeData? = nil, link: DownloadLink? = nil) {
        self.target = target
        self.options = options
        self.resume = resume
        self.link = link
    }

    /// Creates the plan for a download to a file.
    init(
        to file: URL, _ options: DownloadOptions, resume: ResumeData? = nil, link: DownloadLink? = nil
    ) throws(SessionError) {
        self.init(.file(try DownloadDestination(file, options)), options, resume: resume, link: link)
    }

    /// Creates the plan for a download into a folder.
    init(
        into folder: URL, _ options: DownloadOptions, resume: ResumeData? = nil, link: DownloadLink? = nil
    ) throws(SessionError) {
        guard folder.isFileURL else {
            throw SessionError(.invalidURL, "The folder of the download is not a file URL.", url: folder)
        }
        var path = folder.absoluteURL.path(percentEncoded: false)
        while path.utf8.count > 1, path.utf8.last == UInt8(ascii: "/") { path.removeLast() }
        self.init(.folder(path), options, resume: resume, link: link)
    }

    /// Checks, before the request is sent, for problems that would make the download fail at its end.
    func check() throws(SessionError) {
        do throws(FileFailure) {
            switch target {
            case .file(let destination): try destination.check()
            case .folder(let path): try DownloadDestination.checkFolder(path, options)
            case .chosen: break
            }
        } catch {
            throw SessionError(error, url: nil)
        }
        guard let resume else { return }
        do throws(FileFailure) {
            try SystemFile.checkPart(resume.partialFile.path(percentEncoded: false), size: resume.receivedBytes)
        } catch {
            throw .invalidPart(error, resume)
        }
    }

    /// Returns the destination; nil if it is chosen when the download is complete.
    func destination(for response: StreamedResponse) throws(SessionError) -> DownloadDestination? {
        switch target {
        case .file(let destination): return destination
        case .folder(let path):
            let name = SuggestedFileName(response.head, url: response.url).name
            var options = options
            // A name that the server suggests must not replace a file.
            options.existingFile = options.existingFile ?? .keepBoth
            return try DownloadDestination(path: (path == "/" ? "" : path) + "/" + name, options)
        case .chosen: return nil
        }
    }

    /// Returns the temporary destination of a download whose final destination is not known yet.
    func temporaryPlace() throws(SessionError) -> DownloadDestination {
        var options = options
        // All users can read the temporary folder, so the permissions must protect the file.
        options.permissions = 0o600
        let folder = FileManager.default.temporaryDirectory.path(percentEncoded: false)
        return try DownloadDestination(path: folder + "/download", options)
    }

    /// Returns the destination that the plan's function chooses for a complete file.
    func chooseDestination(
        of file: PartialFile, _ response: StreamedResponse
    ) async throws(SessionError) -> DownloadDestination {
        guard case .chosen(let choose) = target else { return try temporaryPlace() }
        let path = file.path
        let place: URL
        do {
            place = try await untilCancelled(on: FileExecutor.shared) { try choose(URL(filePath: path), response.head) }
        } catch let error as SessionError {
            throw error
        } catch {
            guard !Task.isCancelled else { throw .cancelled(response.url) }
            throw SessionError(
                .fileFailed, "Choosing the destination of the download failed: \(SessionError.cause(error))",
                underlying: error, url: response.url)
        }
        return try destination(at: place, response)
    }

    /// Returns a checked destination for a URL that was chosen for a complete file.
    func destination(at place: URL, _ response: StreamedResponse) throws(SessionError) -> DownloadDestination {
        let destination = try DownloadDestination(place, options)
        do throws(FileFailure) {
            try destination.check()
        } catch {
            throw SessionError(error, url: response.url)
        }
        return destination
    }

    /// Whether the partial file is kept when the download fails.
    var keepsPart: Bool {
        switch link?.ending ?? .asOptionsSay {
        case .discard: false
        case .keep: true
        case .asOptionsSay: options.keepsPart || options.resumeFile != nil || resume != nil
        }
    }

    /// Whether the download's part may be resumed. With a handle, that can still be requested later.
    var mayBeResumed: Bool { link != nil || keepsPart }

    /// Removes the resume file, which is no longer needed.
    func removeResumeFile() {
        if let file = options.resumeFile { SystemFile.remove(file.path(percentEncoded: false)) }
    }
}
