public import FoundationEssentials

extension CookieJar {
    /// Makes a jar with the cookies in a file of ``save(to:)``. If the file does not exist, the jar is empty.
    ///
    /// The call blocks. Reading needs no lock, because the file is only replaced as a whole.
    ///
    /// - Parameters:
    ///   - file: The URL of the file.
    ///   - configure: Changes the default configuration.
    /// - Throws: ``CookieError`` with the code ``CookieError/Code/unreadableFile``,
    ///   ``CookieError/Code/unsupportedVersion`` or ``CookieError/Code/corruptFile``. A corrupt file is renamed first,
    ///   so that the next call makes an empty jar; the code ``CookieError/Code/unwritableFile`` says that renaming
    ///   failed.
    public convenience init(
        contentsOf file: URL, _ configure: (inout Configuration) -> Void = { _ in }
    ) throws(CookieError) {
        self.init(configure)
        let store = try CookieFile(file, .unreadableFile)
        storage.adopt(try Self.cookies(in: store), instead: [], at: store.path)
    }

    private static func cookies(in store: CookieFile) throws(CookieError) -> [StoredCookie] {
        do throws(CookieError) {
            return try store.cookies() ?? []
        } catch {
            guard error.code == .corruptFile else { throw error }
        }
        // Another process may have replaced the file meanwhile.
        let (cookies, damage) = try store.locked { () throws(CookieError) in try recovered(from: store) }
        if let damage { throw damage }
        return cookies ?? []
    }

    /// Writes the persistent cookies to a file, and takes over the changes of other processes.
    ///
    /// The file is replaced as a whole: after a crash of the process or the machine, it has all the old cookies or all
    /// the new ones. Only its owner can read it. Session cookies are not written. The folder must exist. The call
    /// blocks for the disk, and while another process saves to the same file (`flock` on a file beside it, with the
    /// extension `lock`), so do not call it on an event loop.
    ///
    /// Several processes can share a file. Afterwards, the jar and the file have the cookies of all processes. A cookie
    /// that one process removed since it last read or wrote the file is gone, unless another has changed it. The more
    /// recently used cookie wins over another change. A deleted file is written again.
    ///
    /// - Parameter file: The URL of the file.
    /// - Throws: ``CookieError`` with the code ``CookieError/Code/unwritableFile``, also if another process holds the
    ///   file's lock for 10 seconds, ``CookieError/Code/unreadableFile`` or ``CookieError/Code/unsupportedVersion``;
    ///   the file is then unchanged, unless it was corrupt and has been renamed. After the code
    ///   ``CookieError/Code/corruptFile``, the damaged file has been renamed, and the cookies of the jar have been
    ///   written.
    public func save(to file: URL) throws(CookieError) {
        let store = try CookieFile(file, .unwritableFile)
        let damage = try store.locked { () throws(CookieError) -> CookieError? in
            let (theirs, damage) = try Self.recovered(from: store)
            let (ours, base) = storage.snapshot(for: store.path)
            // Without a file, the base is empty: a deleted file must not look like the removal of each cookie.
            let merged = CookieMerge.merged(ours: ours, theirs: theirs ?? [], base: theirs == nil ? [:] : base)
            let written = CookieTable.withinLimits(merged, now: configuration.now())
            try store.replace(with: written)
            storage.adopt(written, instead: ours, at: store.path)
            return damage
        }
        if let damage { throw damage }
    }

    /// Returns the cookies in a file, nil if there is none, with the error of a corrupt file, which it renames.
    private static func recovered(
        from store: CookieFile
    ) throws(CookieError) -> (cookies: [StoredCookie]?, damage: CookieError?) {
        do throws(CookieError) {
            return (try store.cookies(), nil)
        } catch {
            guard error.code == .corruptFile else { throw error }
            return (nil, try store.setAside(error))
        }
    }
}
