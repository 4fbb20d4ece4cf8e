internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetSerialization

/// Chooses where a download goes once it is complete: from the temporary file that it is in, and its response.
typealias DestinationChoice = @Sendable (_ temporaryFile: URL, _ response: HTTPResponse) throws -> URL

/// Where a download goes.
enum DownloadTarget: Sendable {
    case file(DownloadDestination)
    /// A folder's path; the response suggests the file's name.
    case folder(String)
    case chosen(DestinationChoice)
}

/// All that a download is told beside its request.
struct DownloadPlan: Sendable {
    let target: DownloadTarget
    let options: DownloadOptions
    /// What it goes on from.
    var resume: ResumeData?
    /// What it shares with its handle, if it has one.
    var link: DownloadLink?

    init(_ target: DownloadTarget, _ options: DownloadOptions, resume: ResumeData? = nil, link: DownloadLink? = nil) {
        self.target = target
        self.options = options
        self.resume = resume
        self.link = link
    }

    /// To a file.
    init(
        to file: URL, _ options: DownloadOptions, resume: ResumeData? = nil, link: DownloadLink? = nil
    ) throws(SessionError) {
        self.init(.file(try DownloadDestination(file, options)), options, resume: resume, link: link)
    }

    /// To a folder.
    init(
        into folder: URL, _ options: DownloadOptions, resume: ResumeData? = nil, link: DownloadLink? = nil
    ) throws(SessionError) {
        guard folder.isFileURL else {
            throw SessionError(.invalidURL, "The folder of a download is no file URL.", url: folder)
        }
        var path = folder.absoluteURL.path(percentEncoded: false)
        while path.utf8.count > 1, path.utf8.last == UInt8(ascii: "/") { path.removeLast() }
        self.init(.folder(path), options, resume: resume, link: link)
    }

    /// Finds what would make the download fail at its end, before anything is sent.
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

    /// Where the file will be; nil while that is to be chosen.
    func destination(for response: StreamedResponse) throws(SessionError) -> DownloadDestination? {
        switch target {
        case .file(let destination): return destination
        case .folder(let path):
            let name = SuggestedFileName(response.head, url: response.url).name
            var options = options
            options.existingFile = options.existingFile ?? .keepBoth
            return try DownloadDestination(path: (path == "/" ? "" : path) + "/" + name, options)
        case .chosen: return nil
        }
    }

    /// Where the bytes go until they are complete, when the place of the file is not known yet.
    func temporaryPlace() throws(SessionError) -> DownloadDestination {
        var options = options
        // That folder is readable by all users.
        options.permissions = 0o600
        let folder = FileManager.default.temporaryDirectory.path(percentEncoded: false)
        return try DownloadDestination(path: folder + "/download", options)
    }

    /// The place that was chosen for a complete file.
    func chooseDestination(
        of file: PartialFile, _ response: StreamedResponse
    ) throws(SessionError) -> DownloadDestination {
        guard case .chosen(let choose) = target else { return try temporaryPlace() }
        let place: URL
        do {
            place = try choose(URL(filePath: file.path), response.head)
        } catch let error as SessionError {
            throw error
        } catch {
            throw SessionError(
                .fileFailed, "No destination was chosen: \(error)", underlying: error, url: response.url)
        }
        return try destination(at: place, response)
    }

    /// A place that was chosen once the file was complete.
    func destination(at place: URL, _ response: StreamedResponse) throws(SessionError) -> DownloadDestination {
        let destination = try DownloadDestination(place, options)
        do throws(FileFailure) {
            try destination.check()
        } catch {
            throw SessionError(error, url: response.url)
        }
        return destination
    }

    /// Whether the part stays when the download breaks off.
    var keepsPart: Bool {
        switch link?.ending ?? .asOptionsSay {
        case .discard: false
        case .keep: true
        case .asOptionsSay: options.keepsPart || options.resumeFile != nil || resume != nil
        }
    }

    /// Removes the resume file, which is no longer needed.
    func removeResumeFile() {
        if let file = options.resumeFile { SystemFile.remove(file.path(percentEncoded: false)) }
    }
}
