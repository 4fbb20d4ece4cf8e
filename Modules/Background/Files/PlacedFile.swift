internal import FoundationEssentials
internal import LinnetSerialization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The file of a download on its way to its destination. All functions block.
///
/// The part and the complete file are hidden files beside the destination, so that the last step is a rename in one
/// folder: the destination has the complete file or the old one, whatever happens.
struct PlacedFile: Sendable {
    let destination: String
    /// The complete file before it is moved.
    let whole: String

    init(_ definition: TransferDefinition) {
        destination = definition.path
        whole = Self.folder(of: definition.path) + "/.linnet-" + definition.mark + ".whole"
    }

    /// The part of a download in segments.
    var segmentedPart: String { folder + "/." + whole.dropFirst(folder.count + 1) + ".linnet-segments" }

    /// Creates the folder of the destination.
    func makeFolder() throws(BackgroundError) {
        do {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        } catch {
            throw BackgroundError(.fileFailed, "The folder \(folder) cannot be created: \(error)", underlying: error)
        }
    }

    private var folder: String { Self.folder(of: destination) }

    private static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// The state of the complete file; nil if there is none.
    var wholeState: FileState? { FileState(path: whole) }

    /// The SHA-256 of the complete file, in hexadecimal.
    func digest() throws(BackgroundError) -> String {
        do throws(FileFailure) {
            return try FileDigest.sha256(of: whole, followsLinks: false)
        } catch {
            throw BackgroundError(.init(ofFile: error.errorNumber), "\(error)", underlying: error)
        }
    }

    /// Moves the complete file to the destination.
    func move(replacing: Bool) throws(BackgroundError) {
        if replacing {
            guard rename(whole, destination) == 0 else { throw failure("cannot be moved into place") }
        } else {
            // Unlike rename, link fails if the name exists.
            guard link(whole, destination) == 0 else {
                guard errno == EEXIST else { throw failure("cannot be moved into place") }
                throw BackgroundError(.invalidDestination, "The file \(destination) already exists.")
            }
            unlink(whole)
        }
    }

    /// Makes the new name survive a power failure.
    func synchronizeFolder() throws(BackgroundError) {
        let code = FolderSynchronizer.synchronize(folder)
        guard code == 0 else { throw unsynchronized(code) }
    }

    /// Makes the new name survive a power failure, together with other names of the folder. It does not block.
    func synchronizeFolder(with folders: FolderSynchronizer) async throws(BackgroundError) {
        let code = await folders.synchronize(folder)
        guard code == 0 else { throw unsynchronized(code) }
    }

    private func unsynchronized(_ code: Int32) -> BackgroundError {
        failure("is in a folder that cannot be synchronized to the disk", code)
    }

    /// Whether a complete file of this state has reached the destination. A link whose old name remains is finished.
    func hasPlaced(_ state: FileState) -> Bool {
        guard FileState(path: destination) == state else { return false }
        unlink(whole)
        return true
    }

    /// Removes the complete file and the parts that a killed process has left.
    func removeLeftovers() {
        unlink(whole)
        removeParts()
    }

    /// Removes the parts of the download. Their names begin with the name of the complete file.
    func removeParts(except kept: String? = nil) {
        let name = whole.dropFirst(folder.count + 1)
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        for other in names where other.hasPrefix("." + name + ".linnet-") && folder + "/" + other != kept {
            unlink(folder + "/" + other)
        }
    }

    /// Removes the files that other workers have left of a download that is complete.
    ///
    /// - Parameter mark: The mark in the names of all workers' files.
    func removeOthers(_ mark: String) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        for other in names where other.contains(".linnet-\(mark)-") { unlink(folder + "/" + other) }
    }

    private func failure(_ problem: String, _ code: Int32 = errno) -> BackgroundError {
        let failure = FileFailure(path: destination, errorNumber: code, problem: problem)
        let code: BackgroundError.Code =
            switch failure.errorNumber {
            case EISDIR, ENOTDIR: .invalidDestination
            default: BackgroundError.Code(ofFile: failure.errorNumber)
            }
        return BackgroundError(code, "\(failure)", underlying: failure)
    }
}

extension FileState {
    /// Reads the state of a regular file; nil if there is none. Symbolic links are followed if asked for.
    init?(path: String, followsLinks: Bool = false) {
        var status = stat()
        guard (followsLinks ? stat(path, &status) : lstat(path, &status)) == 0, status.st_mode & S_IFMT == S_IFREG
        else { return nil }
        device = UInt64(truncatingIfNeeded: status.st_dev)
        node = UInt64(truncatingIfNeeded: status.st_ino)
        size = Int64(status.st_size)
        modified = [Int64(status.st_mtim.tv_sec), Int64(status.st_mtim.tv_nsec)]
    }
}
