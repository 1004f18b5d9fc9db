/** Typed calls of the server's commands. This module does not need VS Code, so tests run it against the real server. */

export type Run = (command: string, ...given: unknown[]) => PromiseLike<unknown>;

export interface Made {
  id: string;
  uri: string;
}

export interface Found {
  id: string;
  title: string;
  status: string;
  fits: boolean;
  text: string;
  uri: string;
  line: number; // from 1
}

export interface Why {
  id: string;
  recalled: boolean;
  text: string;
}

/** Calls the server. If the server showed an error to the person, a result is undefined; `search` returns an empty list. */
export class Memories {
  constructor(private readonly run: Run) {}

  async create(title: string, kind = 'memory'): Promise<Made | undefined> {
    return ((await this.run('rawkomem.new', title, kind)) as Made | null) ?? undefined;
  }

  async amend(uri: string, line: number): Promise<Made | undefined> {
    return ((await this.run('rawkomem.amend', uri, line)) as Made | null) ?? undefined;
  }

  async search(query: string): Promise<Found[]> {
    return ((await this.run('rawkomem.search', query)) as Found[] | null) ?? [];
  }

  async why(uri: string, line: number, task: string): Promise<Why | undefined> {
    return ((await this.run('rawkomem.why', uri, line, task)) as Why | null) ?? undefined;
  }
}
