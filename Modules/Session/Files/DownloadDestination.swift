package import FoundationEssentials
internal import LinnetSerialization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The destination of a download and its options. All methods except the initializers can block.
struct DownloadDestination: Sendable {
    /// The maximum number of files with one name.
    private static let mostNumbered = 9_999

    let place: FilePlace
    let options: DownloadOptions

    init(_ url: URL, _ options: DownloadOptions) throws(SessionError) {
        guard url.isFileURL else {
            throw SessionError(.invalidURL, "The destination of the download is not a file URL.", url: url)
        }
        try self.init(path: url.absoluteURL.path(percentEncoded: false), options)
    }

    init(path: String, _ options: DownloadOptions) throws(SessionError) {
        guard let place = FilePlace(path) else {
            throw SessionError(FileFailure(path: path, errorNumber: EISDIR, problem: "does not name a file"), url: nil)
        }
        self.place = place
        self.options = options
    }

    /// Checks, before the request is sent, for problems that would make the download fail at its end.
    func check() throws(FileFailure) {
        switch try SystemFile.kind(of: place.path) {
        case .folder:
            throw SystemFile.failure(place.path, "is a folder", EISDIR)
        case .other:
            // Renaming would replace a pipe or a device.
            throw SystemFile.failure(place.path, "is not a file", EEXIST)
        case .file, .link:
            if options.existingFile == .fail { throw exists }
        case nil:
            break
        }
        try Self.checkFolder(place.folder, options)
    }

    /// Checks that files can be created in a folder. A missing folder passes if the options allow its creation.
    static func checkFolder(_ path: String, _ options: DownloadOptions) throws(FileFailure) {
        do throws(FileFailure) {
            try SystemFile.checkFolder(path)
        } catch {
            guard error.errorNumber == ENOENT else { throw error }
            guard options.createsDirectories else {
                throw SystemFile.failure(path, "is missing, and createsDirectories is false", ENOENT)
            }
        }
    }

    /// Creates the temporary file for the bytes of an unfinished download.
    func makePartialFile() throws(FileFailure) -> PartialFile {
        if options.createsDirectories { try SystemFile.makeFolder(place.folder) }
        do {
            // The name is random, so a second attempt is as good as certain to find a free one.
            while true {
                // It is in the folder of the destination, so that renaming it stays within one file system and is
                // atomic.
                let path = place.makePartialPath()
                if let descriptor = try SystemFile.create(path, permissions: options.permissions) {
                    return PartialFile(path: path, finalPath: place.path, descriptor: descriptor)
                }
            }
        } catch {
            var failure = error
            failure.path = place.path
            throw failure
        }
    }

    /// Moves a complete file to the destination.
    ///
    /// - Parameters:
    ///   - file: The complete file.
    ///   - setsPermissions: Whether the file must get its permissions, because it was created elsewhere with other
    ///     ones.
    /// - Returns: The path of the moved file.
    /// - Throws: The failure of the system call.
    func take(_ file: PartialFile, setsPermissions: Bool) throws(FileFailure) -> String {
        try file.close(synchronizing: options.synchronizes)
        if setsPermissions { try SystemFile.setPermissions(file.path, options.permissions) }
        if options.createsDirectories { try SystemFile.makeFolder(place.folder) }
        let path = try move(file.path)
        file.isMoved = true
        if options.synchronizes, !options.leavesFolderUnsynchronized { try SystemFile.synchronizeFolder(place.folder) }
        return path
    }

    /// Moves a complete file, which stays where it is if that fails.
    func move(_ file: String) throws(FileFailure) -> String {
        do throws(FileFailure) {
            return try rename(file)
        } catch  where error.errorNumber == EXDEV {
            // Renaming does not work across file systems, so the file is first copied to the destination's folder.
            let copy = try makePartialFile()
            try copy.append(contentsOf: file)
            try copy.close(synchronizing: options.synchronizes)
            let path = try rename(copy.path)
            copy.isMoved = true
            SystemFile.remove(file)
            return path
        } catch {
            throw error
        }
    }

    private func rename(_ path: String) throws(FileFailure) -> String {
        switch (options.existingFile ?? .replace).choice {
        case .replace:
            try SystemFile.move(path, to: place.path)
            return place.path
        case .fail:
            guard try SystemFile.moveIfFree(path, to: place.path) else { throw exists }
            return place.path
        case .keepBoth:
            var candidate = place
            for number in 1...Self.mostNumbered {
                if try SystemFile.moveIfFree(path, to: candidate.path) { return candidate.path }
                candidate = place.numbered(number)
            }
            throw exists
        }
    }

    private var exists: FileFailure {
        SystemFile.failure(place.path, "already exists", EEXIST)
    }
}

extension DownloadOptions {
    /// Moves a complete file to a destination, as a download does at its end. Blocks.
    ///
    /// - Returns: The URL of the moved file.
    /// - Throws: ``SessionError/Code/fileFailed`` and ``SessionError/Code/invalidURL``; the file stays where it is.
    package func move(_ file: URL, to destination: URL) throws(SessionError) -> URL {
        let place = try DownloadDestination(destination, self)
        do throws(FileFailure) {
            return URL(filePath: try place.move(file.path(percentEncoded: false)))
        } catch {
            throw SessionError(error, url: nil)
        }
    }
}
