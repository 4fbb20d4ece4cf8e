package import FoundationEssentials
internal import LinnetCookies
internal import LinnetTransport
internal import Synchronization

/// Saves the cookies of a jar to its file after each change, on the threads for files.
///
/// One save runs at a time, and changes that come meanwhile are saved together after it. A failed save is repeated with
/// the next change.
package final class CookieSaver: Sendable {
    private struct State {
        var isChanged = false
        var task: Task<Void, Never>?
        /// Reads the changes of the jar.
        var reader: Task<Void, Never>?
    }

    package let jar: CookieJar
    private let file: URL
    private let state = Mutex(State())

    /// Begins to save changes. Releasing the object ends it.
    package init(_ jar: CookieJar, to file: URL) {
        self.jar = jar
        self.file = file
        let changes = jar.changes
        let reader = Task { [weak self] in
            for await _ in changes { self?.noteChange() }
        }
        state.withLock { $0.reader = reader }
    }

    deinit { state.withLock { $0.reader }?.cancel() }

    /// Saves the changes, and returns when they are saved.
    package func save() async {
        noteChange()
        await state.withLock { $0.task }?.value
    }

    private func noteChange() {
        state.withLock { state in
            state.isChanged = true
            // It cannot reach its end before the lock is released.
            if state.task == nil { state.task = Task(executorPreference: FileExecutor.shared) { self.saveChanges() } }
        }
    }

    private func saveChanges() {
        while takeChange() { try? jar.save(to: file) }
    }

    private func takeChange() -> Bool {
        state.withLock { state in
            defer { state.isChanged = false }
            if !state.isChanged { state.task = nil }
            return state.isChanged
        }
    }
}
