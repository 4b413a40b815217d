import NoteFiles
import Testing
